import { fileURLToPath } from 'node:url';

/** The model that runs when no other is chosen. The same path from engine/ and from the bundles in dist/. */
export const embeddedModelDir = fileURLToPath(new URL('../engine/models/tiny-coder', import.meta.url));
