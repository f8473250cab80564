import { cutWindows } from '../text/lineWindows.ts';
import { type SimilarityIndex, WINDOW_LINES } from './similarityIndex.ts';
import { readTextFile } from './textFile.ts';
import type { SimilarText, SimilarTexts } from './workerProtocol.ts';

/** More than a prompt takes: which of them it takes is decided there, beside the open documents. */
export const FOUND = 12;

/** Finds what is like a place. What is found is read again, and found again in files that changed meanwhile. */
export async function similarTexts(index: SimilarityIndex, near: string): Promise<SimilarTexts> {
  const paths = new Set(index.find(near, FOUND).map(({ path }) => path));
  const read = new Map<string, string>();
  for (const path of paths) {
    const file = await readTextFile(path).catch(() => undefined);
    if (!index.has(path)) continue; // forgotten meanwhile
    if (file === undefined || 'skipped' in file) {
      index.delete(path);
      continue;
    }
    index.set(path, file.text, file);
    read.set(path, file.text);
  }
  const texts = index.find(near, FOUND, read.keys()).map(({ path, window }): SimilarText => {
    const { firstLine, text } = cutWindows(read.get(path)!, WINDOW_LINES)[window];
    return { path, firstLine, text };
  });
  return { texts, rarity: index.raritiesNear(near) };
}
