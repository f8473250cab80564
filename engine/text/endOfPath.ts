import type { CountTokens } from './window.ts';

/** A code point is at most four tokens of a vocabulary of bytes. */
const MOST_TOKENS_A_CHARACTER = 4;

/**
 * The end of a path in at most `maxTokens`: as many of its last folders as fit, or the end of the file's name where
 * that alone does not.
 */
export function endOfPath(path: string, maxTokens: number, count: CountTokens): string {
  if (count(path) <= maxTokens) return path;
  const names = path.split('/');
  let end = names.pop()!;
  if (count(end) > maxTokens) return [...end].slice(-maxTokens / MOST_TOKENS_A_CHARACTER).join('');
  for (let folder = names.pop(); folder !== undefined; folder = names.pop()) {
    const longer = `${folder}/${end}`;
    if (count(longer) > maxTokens) break;
    end = longer;
  }
  return end;
}
