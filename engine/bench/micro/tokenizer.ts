import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Tokenizer as LibraryTokenizer } from '@huggingface/tokenizers';
import { shuffle } from 'simple-statistics';
import { median } from '../../benchmark/statistics.ts';
import { loadTokenizer, type Tokenizer } from '../../model/tokenizer.ts';
import { seededRandom } from '../../seededRandom.ts';
import type { Figure } from '../report.ts';
import type { MicroBench, Subject } from './microBench.ts';
import { elapsedMs } from './timing.ts';

/** The library takes a second for a megabyte. */
const TEXT_CHARACTERS = 500_000;
const ROUNDS = 3;
const TEXT_ONLY = { add_special_tokens: false };

/** How fast text becomes tokens and tokens text, against the library alone (decisions/0004). */
export async function measureTokenizer(bench: MicroBench, modelDir: string): Promise<Subject> {
  const texts = someTexts(bench);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const library = await loadLibrary(modelDir);
  const rounds: RoundTimes[] = [];
  // Another one each round: every piece of text is new to it.
  for (let round = 0; round < ROUNDS; round++) {
    rounds.push(timeRound(texts, await loadTokenizer(modelDir), library));
  }
  const rate = (work: keyof RoundTimes) =>
    megabytesPerSecond(bytes, median(rounds.map((times) => times[work])));
  const figure = (name: string, work: keyof RoundTimes, libraryWork: keyof RoundTimes): Figure => ({
    name,
    unit: 'MB/s',
    measured: rate(work),
    baseline: { name: 'library', measured: rate(libraryWork) },
  });
  const libraryTokens = texts.map((text) => library.encode(text, TEXT_ONLY).ids);
  return {
    figures: [
      figure('encode new text', 'encodeNew', 'libraryEncode'),
      figure('encode text seen before', 'encodeSeen', 'libraryEncode'),
      figure('decode', 'decode', 'libraryDecode'),
    ],
    faults: encodingFaults(bench.runtime.tokenizer, texts, libraryTokens),
    details: { bytes, rounds },
  };
}

/** In ms, for all texts. */
interface RoundTimes {
  readonly encodeNew: number;
  readonly encodeSeen: number;
  readonly decode: number;
  readonly libraryEncode: number;
  readonly libraryDecode: number;
}

function timeRound(texts: readonly string[], tokenizer: Tokenizer, library: LibraryTokenizer): RoundTimes {
  const timed = <Result>(work: (text: string) => Result) => {
    const startedMs = performance.now();
    const results = texts.map(work);
    return { ms: performance.now() - startedMs, results };
  };
  const encodeNew = timed((text) => tokenizer.encode(text));
  const encodeSeen = timed((text) => tokenizer.encode(text));
  const libraryEncode = timed((text) => library.encode(text, TEXT_ONLY).ids);
  return {
    encodeNew: encodeNew.ms,
    encodeSeen: encodeSeen.ms,
    decode: elapsedMs(() => encodeSeen.results.map((ids) => tokenizer.decode(ids))),
    libraryEncode: libraryEncode.ms,
    libraryDecode: elapsedMs(() => libraryEncode.results.map((ids) => library.decode(ids))),
  };
}

export const megabytesPerSecond = (bytes: number, ms: number) => bytes / 1000 / ms;

/** What the figures compare has to be the same work. */
export function encodingFaults(
  tokenizer: Pick<Tokenizer, 'encode' | 'decode'>,
  texts: readonly string[],
  libraryTokens: readonly (readonly number[])[],
): string[] {
  return texts.flatMap((text, i) => {
    const tokens = tokenizer.encode(text);
    const place = JSON.stringify(text.slice(0, 40));
    const faults: string[] = [];
    if (tokens.join() !== libraryTokens[i].join())
      faults.push(`The library has other tokens for ${place}...`);
    // The model's own normalizer may compose characters.
    if (tokenizer.decode(tokens).normalize() !== text.normalize())
      faults.push(`Decoding changes ${place}...`);
    return faults;
  });
}

/** Whole held-out files, drawn by the seed. */
function someTexts({ workspaces, seed }: MicroBench): string[] {
  const all = workspaces.flatMap(({ documents }) => documents.map(({ text }) => text));
  const texts: string[] = [];
  let characters = 0;
  for (const text of shuffle(all, seededRandom(seed))) {
    if (characters >= TEXT_CHARACTERS) break;
    texts.push(text);
    characters += text.length;
  }
  return texts;
}

async function loadLibrary(modelDir: string): Promise<LibraryTokenizer> {
  const read = async (name: string) => JSON.parse(await readFile(join(modelDir, name), 'utf8'));
  return new LibraryTokenizer(await read('tokenizer.json'), await read('tokenizer_config.json'));
}
