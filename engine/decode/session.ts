import type { HiddenRows, SessionView, TokenRange } from '../draft/drafter.ts';
import { SlipstreamError } from '../errors.ts';
import type { ForwardOutput, KvCache, ModelInfo } from '../model/languageModel.ts';
import { commonPrefix } from '../sequence/commonPrefix.ts';
import { PrefillPace } from '../sequence/prefillPace.ts';
import { ROOT, type TokenTree } from '../tree/tokenTree.ts';
import { HiddenRowBuffer } from './hiddenRows.ts';

/** A prompt in tokens, and what its parts are (see SessionView). */
export interface SessionPrompt {
  readonly tokens: Int32Array;
  readonly prefix: TokenRange;
  readonly suffix: TokenRange;
  readonly document?: string | undefined;
}

/** Space that a prompt leaves for what is generated; attending to more empty rows costs more than growing when needed. */
const RESERVED_ROWS = 64;

/** What a session needs to know of its model. */
export type SequenceFacts = Pick<ModelInfo, 'contextLength' | 'hiddenSize' | 'tapCount'>;

let started = 0;
const EMPTY: TokenRange = { start: 0, end: 0 };

/**
 * One sequence being decoded: the only owner of its tokens and KV rows.
 *
 * Invariant: the KV rows are those of a proper prefix of `tokens`. The tokens past them are pending; at least the
 * last one always is, since its row comes out of the pass that predicts its successor.
 */
export class Session implements SessionView {
  readonly pace = new PrefillPace();
  readonly #kv: KvCache;
  readonly #contextLength: number;
  readonly #hidden: HiddenRowBuffer;
  /** The pass whose rows are not committed yet. */
  #taps: readonly Float32Array[] = [];
  #buffer = new Int32Array(256);
  #length = 0;
  #id = 0;
  #prompt: SessionPrompt = { tokens: new Int32Array(0), prefix: EMPTY, suffix: EMPTY };

  constructor(kv: KvCache, { contextLength, hiddenSize, tapCount }: SequenceFacts) {
    this.#kv = kv;
    this.#contextLength = contextLength;
    this.#hidden = new HiddenRowBuffer(tapCount, hiddenSize);
  }

  get tokens(): Int32Array {
    return this.#buffer.subarray(0, this.#length);
  }

  get id(): number {
    return this.#id;
  }

  get promptLength(): number {
    return this.#prompt.tokens.length;
  }

  get prefix(): TokenRange {
    return this.#prompt.prefix;
  }

  get suffix(): TokenRange {
    return this.#prompt.suffix;
  }

  get document(): string | undefined {
    return this.#prompt.document;
  }

  get hidden(): HiddenRows {
    return this.#hidden;
  }

  /** KV rows: fewer than tokens, many fewer after a cancelled prefill. */
  get rows(): number {
    return this.#kv.length;
  }

  get pending(): number {
    return this.#length - this.#kv.length;
  }

  /** Tokens that can still be generated: the last one needs no row. */
  get room(): number {
    return this.#contextLength - this.#length + 1;
  }

  /** See KvCache.exactDepth. */
  get exactDepth(): number {
    return this.#kv.exactDepth;
  }

  get bytes(): number {
    return this.#kv.bytes + this.#hidden.bytes;
  }

  /** How many leading tokens of `prompt` have their KV rows here already. */
  reusable(prompt: Int32Array): number {
    return commonPrefix(this.#buffer.subarray(0, this.#kv.length), prompt.subarray(0, -1));
  }

  /**
   * Starts over with a prompt, keeping the rows of the longest common beginning.
   *
   * @throws SlipstreamError usage when the prompt is empty or longer than the model's context
   */
  start(prompt: SessionPrompt): void {
    const { tokens } = prompt;
    this.#check(tokens.length);
    const reused = this.reusable(tokens);
    this.#kv.truncate(reused);
    this.#hidden.truncate(reused);
    this.#kv.reserve(tokens.length + RESERVED_ROWS);
    this.#length = 0;
    this.#append(tokens);
    this.#prompt = prompt;
    this.#id = ++started;
  }

  /** Evaluates up to `count` pending tokens, never the last one. */
  async prefill(count: number): Promise<void> {
    const size = Math.min(count, this.pending - 1);
    const from = this.#kv.length;
    const tokens = this.#buffer.slice(from, from + size);
    const { taps } = await this.#kv.forward({ tokens, rows: new Int32Array(0), want: 'argmax' });
    const path = tokens.map((_, row) => row);
    await this.#kv.commit(path);
    this.#hidden.append(taps, path);
  }

  /**
   * Evaluates the pending tokens and a tree after them in one pass.
   *
   * @returns predictions: row 0 after the last pending token, row i + 1 after node i
   */
  async verify(tree: TokenTree, want: 'argmax' | 'logits'): Promise<ForwardOutput> {
    const { pending } = this;
    const tokens = new Int32Array(pending + tree.size);
    tokens.set(this.#buffer.subarray(this.#kv.length, this.#length));
    tokens.set(tree.tokens, pending);
    const parents = tokens.map((_, row) =>
      row < pending ? row - 1 : treeParent(tree, row - pending, pending),
    );
    const rows = Int32Array.from({ length: tree.size + 1 }, (_, row) => pending - 1 + row);
    const output = await this.#kv.forward({ tokens, parents, rows, want });
    this.#taps = output.taps;
    return output;
  }

  /** Commits the pending tokens and the accepted nodes of the tree just verified; the bonus is the new pending one. */
  async commit(tree: TokenTree, accepted: readonly number[], bonus: number): Promise<void> {
    const { pending } = this;
    const path = Int32Array.from({ length: pending + accepted.length }, (_, i) =>
      i < pending ? i : pending + accepted[i - pending],
    );
    await this.#kv.commit(path);
    this.#hidden.append(this.#taps, path);
    this.#append(accepted.map((node) => tree.tokens[node]));
    this.#append([bonus]);
  }

  dispose(): void {
    this.#kv.dispose();
  }

  #check(promptLength: number): void {
    if (promptLength === 0) throw new SlipstreamError('usage', 'The prompt is empty.');
    if (promptLength <= this.#contextLength) return;
    const limit = `the model's context of ${this.#contextLength}`;
    throw new SlipstreamError('usage', `The prompt's ${promptLength} tokens do not fit ${limit}.`);
  }

  #append(tokens: ArrayLike<number>): void {
    if (this.#length + tokens.length > this.#buffer.length) {
      const grown = new Int32Array(2 * (this.#length + tokens.length));
      grown.set(this.tokens);
      this.#buffer = grown;
    }
    this.#buffer.set(tokens, this.#length);
    this.#length += tokens.length;
  }
}

function treeParent(tree: TokenTree, node: number, pending: number): number {
  const parent = tree.parents[node];
  return parent === ROOT ? pending - 1 : pending + parent;
}
