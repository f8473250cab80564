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
const ROUNDS = 5;

/** How fast text becomes tokens and tokens text, against the library alone (decisions/0004). */
export async function measureTokenizer(bench: MicroBench, modelDir: string): Promise<Subject> {
  const texts = someTexts(bench);
  const bytes = texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  const library = await loadLibrary(modelDir);
  const times = { fresh: [] as number[], seen: [] as number[], decode: [] as number[] };
  const libraryTimes = { encode: [] as number[], decode: [] as number[] };
  let tokens: Int32Array[] = [];
  let libraryTokens: number[][] = [];
  for (let round = 0; round < ROUNDS; round++) {
    // Another one each round: every piece of text is new to it.
    const tokenizer = await loadTokenizer(modelDir);
    const encodeAll = () => {
      tokens = texts.map((text) => tokenizer.encode(text));
    };
    times.fresh.push(elapsedMs(encodeAll));
    times.seen.push(elapsedMs(encodeAll));
    times.decode.push(elapsedMs(() => tokens.map((ids) => tokenizer.decode(ids))));
    libraryTimes.encode.push(
      elapsedMs(() => {
        libraryTokens = texts.map((text) => library.encode(text, { add_special_tokens: false }).ids);
      }),
    );
    libraryTimes.decode.push(elapsedMs(() => libraryTokens.map((ids) => library.decode(ids))));
  }
  const rate = (timesMs: number[]) => megabytesPerSecond(bytes, median(timesMs));
  const encodeBaseline = { name: 'library', measured: rate(libraryTimes.encode) };
  const decodeBaseline = { name: 'library', measured: rate(libraryTimes.decode) };
  const figures: Figure[] = [
    { name: 'encode new text', unit: 'MB/s', measured: rate(times.fresh), baseline: encodeBaseline },
    { name: 'encode text seen before', unit: 'MB/s', measured: rate(times.seen), baseline: encodeBaseline },
    { name: 'decode', unit: 'MB/s', measured: rate(times.decode), baseline: decodeBaseline },
  ];
  const faults = encodingFaults(bench.runtime.tokenizer, texts, libraryTokens);
  return { figures, faults, details: { bytes, times, libraryTimes } };
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
