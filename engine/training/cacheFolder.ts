import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where archives, corpus, token files and checkpoints live: outside the repository, since the text is not ours to ship. */
export const CACHE_FOLDER =
  process.env.SLIPSTREAM_TRAINING_CACHE ?? join(homedir(), '.cache', 'slipstream-training');
