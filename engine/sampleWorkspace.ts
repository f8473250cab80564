import { fileURLToPath } from 'node:url';

/** Files to try things on where nobody has files of their own. The same path from engine/ and from the bundles in dist/. */
export const sampleWorkspaceDir = fileURLToPath(
  new URL('../test/fixtures/sample-workspace', import.meta.url),
);
