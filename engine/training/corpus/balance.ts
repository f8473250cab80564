import type { CorpusDocument } from './document.ts';
import type { Language } from './languages.ts';
import { mixBits } from './shingles.ts';

const MB = 1_000_000;

/** Most characters of a language: weighted to what the editor's first users write. */
const MAX_CHARACTERS: Readonly<Record<Language, number>> = {
  typescript: 140 * MB,
  tsx: 40 * MB,
  javascript: 90 * MB,
  python: 100 * MB,
  go: 30 * MB,
  rust: 25 * MB,
  c: 25 * MB,
  cpp: 25 * MB,
  java: 25 * MB,
  shell: 6 * MB,
  css: 8 * MB,
  html: 5 * MB,
  json: 4 * MB,
  markdown: 12 * MB,
};

/** One package speaks for at most this share of its language's characters. */
const MAX_SHARE_OF_A_PACKAGE = 0.08;

function orderKey(document: CorpusDocument): number {
  let hash = 0;
  for (const sign of `${document.package}/${document.path}`)
    hash = mixBits(Math.imul(hash, 31) + sign.codePointAt(0)!);
  return hash;
}

/** Keeps a fixed pseudo-random choice of files within the limits; the order of what is kept stays. */
export function balance(documents: readonly CorpusDocument[]): CorpusDocument[] {
  const used = new Map<string, number>();
  const take = (key: string, characters: number, limit: number) => {
    const total = (used.get(key) ?? 0) + characters;
    if (total > limit) return false;
    used.set(key, total);
    return true;
  };
  const kept = new Set<CorpusDocument>();
  const keyed = documents
    .map((document) => ({ document, key: orderKey(document) }))
    .sort((a, b) => a.key - b.key);
  for (const { document } of keyed) {
    const { language, text } = document;
    const limit = MAX_CHARACTERS[language];
    const fits =
      take(`${document.package}:${language}`, text.length, limit * MAX_SHARE_OF_A_PACKAGE) &&
      take(language, text.length, limit);
    if (fits) kept.add(document);
  }
  return documents.filter((document) => kept.has(document));
}
