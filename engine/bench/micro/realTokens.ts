import { SlipstreamError } from '../../errors.ts';
import { seededRandom } from '../../seededRandom.ts';
import type { MicroBench } from './microBench.ts';

const FILL_CHUNK = 256;

/** Consecutive tokens of a real file. */
export function realTokens({ runtime, workspaces, seed }: Omit<MicroBench, 'otherWork'>, length: number) {
  const random = seededRandom(seed);
  const texts = workspaces.flatMap(({ documents }) => documents.map(({ text }) => text));
  // Code has at most 8 characters a token on average.
  const long = texts.filter((text) => text.length > 8 * length);
  if (long.length === 0) throw new SlipstreamError('internal', `No held-out file has ${length} tokens.`);
  const tokens = runtime.tokenizer.encode(long[Math.floor(random() * long.length)]);
  const start = Math.floor(random() * (tokens.length - length));
  return tokens.slice(start, start + length);
}

/** A cache that holds rows of these tokens, with the space that a session leaves behind them. */
export async function filledCache({ runtime }: MicroBench, tokens: Int32Array, space: number) {
  const kv = runtime.model.createKvCache(tokens.length + space);
  for (let start = 0; start < tokens.length; start += FILL_CHUNK) {
    const chunk = tokens.slice(start, start + FILL_CHUNK);
    await kv.forward({ tokens: chunk, rows: new Int32Array(0), want: 'argmax' });
    await kv.commit(chunk.map((_, row) => row));
  }
  return kv;
}
