import { type Random, seededRandom } from '../seededRandom.ts';

/**
 * Documents of about 5,000 tokens that look like code to an index: token frequencies as Zipf's law has them,
 * half of the text copied from earlier text in runs of 4 to 60 tokens, so that common n-grams have long chains.
 * The same for the same arguments.
 */
export function syntheticWorkspace(tokenCount: number, vocabSize: number): Uint16Array[] {
  const random = seededRandom(42);
  const all = new Uint16Array(tokenCount);
  let at = 0;
  while (at < tokenCount) {
    if (at > 1000 && random() < 0.06) at = copyRun(all, at, random);
    else all[at++] = zipf(random(), vocabSize);
  }
  return cut(all, random);
}

function copyRun(all: Uint16Array, at: number, random: Random): number {
  const length = 4 + Math.floor(56 * random() ** 2);
  // Near text is copied more often than far text, and some text very often.
  const distance = Math.floor(at * random() ** 3);
  const from = Math.max(0, at - distance - length);
  const to = Math.min(all.length, at + length);
  for (let i = at, j = from; i < to; i++, j++) all[i] = all[j];
  return to;
}

/** A rank with P(rank) about 1 / rank. */
function zipf(uniform: number, vocabSize: number): number {
  return Math.min(vocabSize - 1, Math.floor(vocabSize ** uniform) - 1);
}

function cut(all: Uint16Array, random: Random): Uint16Array[] {
  const documents: Uint16Array[] = [];
  for (let start = 0; start < all.length; ) {
    const end = Math.min(all.length, start + 2500 + Math.floor(random() * 5000));
    if (end - start > 100) documents.push(all.subarray(start, end));
    start = end;
  }
  return documents;
}
