import { fileURLToPath } from 'node:url';
import { loadTokenizer } from '../../../engine/model/tokenizer.ts';

/** The embedded model's tokenizer. */
export const tinyCoder = await loadTokenizer(
  fileURLToPath(new URL('../../../engine/models/tiny-coder', import.meta.url)),
);
