import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { CACHE_FOLDER } from '../cacheFolder.ts';
import type { CorpusDocument } from './document.ts';

/** Reads `corpus/train.jsonl` or `corpus/heldOut.jsonl` file by file; files of a package follow each other. */
export async function* readDocuments(set: 'train' | 'heldOut'): AsyncGenerator<CorpusDocument> {
  const lines = createInterface({ input: createReadStream(join(CACHE_FOLDER, 'corpus', `${set}.jsonl`)) });
  for await (const line of lines) yield JSON.parse(line) as CorpusDocument;
}
