import type { ForwardBatch, ForwardOutput, KvCache, LanguageModel } from '../model/languageModel.ts';
import { commonPrefix } from '../sequence/commonPrefix.ts';
import { PrefillPace } from '../sequence/prefillPace.ts';
import type { PooledSequence } from '../sequence/sequencePool.ts';
import { ROOT } from '../tree/tokenTree.ts';

/** A token that the draft model proposed, and may be asked to continue. */
export interface DraftedToken {
  readonly token: number;
  readonly parent: DraftedToken | undefined;
}

/** How far a draft may go. */
export interface DraftLimits {
  readonly levels: number;
  /** Once it is aborted no pass begins. */
  readonly signal: AbortSignal | undefined;
}

/** Catching up is not interrupted: this is how long it may take at once, so that a cancel is felt within 50 ms. */
const CATCH_UP_MS = 25;

/** Tokens that a window ahead is behind before a pass is spent on it: fewer hardly cost less. */
const WORTH_PREPARING = 16;

/** The last pass, none of whose rows beyond the sequence's are committed yet. */
interface Batch {
  readonly tokens: Int32Array; // [T]
  readonly parents: Int32Array; // [T]
  readonly rowOf: ReadonlyMap<DraftedToken, number>;
}

const noBatch: Batch = { tokens: new Int32Array(0), parents: new Int32Array(0), rowOf: new Map() };

/**
 * One sequence as the draft model has it in its KV rows: a beginning of the target's tokens, then what it drafted as far
 * as all candidates agree. What the target made of the drafts shows in its tokens the next time: the rows of what it
 * accepted are kept, the others forgotten, and nothing is evaluated twice on a chain.
 */
export class DraftModelSequence implements PooledSequence {
  readonly #model: LanguageModel;
  readonly #want: ForwardBatch['want'];
  readonly #kv: KvCache;
  readonly #pace = new PrefillPace();
  /** Of the committed rows. */
  readonly #tokens: number[] = [];
  /** Of those, the ones that were drafted since the target's tokens were last followed. */
  #drafted = 0;
  #batch = noBatch;

  /** @param want of each prediction */
  constructor(model: LanguageModel, want: ForwardBatch['want']) {
    this.#model = model;
    this.#want = want;
    this.#kv = model.createKvCache(1);
  }

  get bytes(): number {
    return this.#kv.bytes;
  }

  get rows(): number {
    return this.#tokens.length;
  }

  /** The last token counts for nothing: its prediction has to be made again. */
  reusable(tokens: Int32Array): number {
    return commonPrefix(this.#tokens, tokens.subarray(0, -1));
  }

  /** Evaluates one chunk of what the rows lack of the first `due` of `tokens`, when that is worth a pass. */
  async prepare(tokens: Int32Array, due: number): Promise<void> {
    await this.#keepAccepted(tokens);
    const behind = due - this.rows;
    if (behind < WORTH_PREPARING) return;
    const chunk = this.#chunkOf(tokens, behind);
    if (chunk) await this.#evaluate(chunk, new Int32Array(0));
  }

  /**
   * Evaluates what the rows lack of `tokens`, chunk by chunk for a short time.
   *
   * @returns the prediction after the last token, one row; `catchingUp`: there is more to evaluate than that time is for
   */
  async follow(tokens: Int32Array): Promise<ForwardOutput | 'catchingUp' | 'unknownToken'> {
    await this.#keepAccepted(tokens);
    this.#kv.reserve(tokens.length);
    const started = performance.now();
    for (;;) {
      const behind = tokens.length - this.rows;
      const chunk = this.#chunkOf(tokens, behind);
      if (!chunk) return 'unknownToken';
      const whole = chunk.length === behind;
      const output = await this.#evaluate(chunk, whole ? Int32Array.of(behind - 1) : new Int32Array(0));
      if (whole) return output;
      if (performance.now() - started > CATCH_UP_MS) return 'catchingUp';
    }
  }

  /**
   * Evaluates the next level of the tree. Drafted tokens that all of the frontier descends from are committed; the others
   * on the way to it are evaluated once more with it, none for a chain.
   *
   * @param frontier tokens of one level, each with its ancestors since `follow`
   * @returns predictions in the order of the frontier
   */
  async extend(frontier: readonly DraftedToken[]): Promise<ForwardOutput> {
    const paths = frontier.map(pathTo);
    await this.#commitShared(paths);
    const batch = batchOf(paths.map((path) => path.slice(this.#drafted)));
    const { tokens, parents } = batch;
    const rows = Int32Array.from(frontier, (_, i) => tokens.length - frontier.length + i);
    // A pass gives up the rows of the one before, also when it fails.
    this.#batch = noBatch;
    const output = await this.#kv.forward({ tokens, parents, rows, want: this.#want });
    this.#batch = batch;
    return output;
  }

  dispose(): void {
    this.#kv.dispose();
  }

  /** The next tokens after the rows, at most `most`; undefined when the draft model does not know one of them. */
  #chunkOf(tokens: Int32Array, most: number): Int32Array | undefined {
    // Deeper chunks would give other rows than another cut of the same tokens does.
    const size = Math.min(most, this.#pace.chunk, this.#kv.exactDepth);
    const chunk = tokens.slice(this.rows, this.rows + size);
    return chunk.some((token) => token >= this.#model.info.vocabSize) ? undefined : chunk;
  }

  async #evaluate(tokens: Int32Array, rows: Int32Array): Promise<ForwardOutput> {
    const started = performance.now();
    const output = await this.#kv.forward({ tokens, rows, want: this.#want });
    this.#pace.observe(tokens.length, performance.now() - started);
    await this.#kv.commit(Int32Array.from(tokens.keys()));
    this.#tokens.push(...tokens);
    return output;
  }

  /** Forgets the rows that `tokens` does not begin with, and commits those of the last pass that it goes on with. */
  async #keepAccepted(tokens: Int32Array): Promise<void> {
    const batch = this.#batch;
    this.#batch = noBatch;
    this.#drafted = 0;
    const shared = this.reusable(tokens);
    if (shared < this.rows) {
      this.#kv.truncate(shared);
      this.#tokens.length = shared;
    } else {
      await this.#commit(batch, acceptedRows(batch, tokens.subarray(shared, tokens.length - 1)));
    }
  }

  async #commitShared(paths: readonly (readonly DraftedToken[])[]): Promise<void> {
    const [first] = paths;
    let shared = this.#drafted;
    while (shared < first.length - 1 && paths.every((path) => path[shared] === first[shared])) shared++;
    const batch = this.#batch;
    await this.#commit(
      batch,
      first.slice(this.#drafted, shared).map((token) => batch.rowOf.get(token)!),
    );
    this.#drafted = shared;
  }

  async #commit({ tokens }: Batch, rows: readonly number[]): Promise<void> {
    if (rows.length === 0) return;
    await this.#kv.commit(rows);
    this.#tokens.push(...rows.map((row) => tokens[row]));
  }
}

/** Root to leaf. */
function pathTo(leaf: DraftedToken): DraftedToken[] {
  const path: DraftedToken[] = [];
  for (let token: DraftedToken | undefined = leaf; token; token = token.parent) path.unshift(token);
  return path;
}

/** The tokens on the paths, each once, level by level. */
function batchOf(paths: readonly (readonly DraftedToken[])[]): Batch {
  const rowOf = new Map<DraftedToken, number>();
  const parents: number[] = [];
  for (let level = 0; level < paths[0].length; level++) {
    for (const path of paths) {
      if (rowOf.has(path[level])) continue;
      parents.push(level === 0 ? ROOT : rowOf.get(path[level - 1])!);
      rowOf.set(path[level], rowOf.size);
    }
  }
  const tokens = Int32Array.from([...rowOf.keys()], ({ token }) => token);
  return { tokens, parents: Int32Array.from(parents), rowOf };
}

/** The path through the batch that `tokens` takes, as far as it goes. */
function acceptedRows({ tokens: drafted, parents }: Batch, tokens: Int32Array): number[] {
  const rows: number[] = [];
  let parent = ROOT;
  for (const token of tokens) {
    const row = drafted.findIndex((candidate, i) => candidate === token && parents[i] === parent);
    if (row < 0) break;
    rows.push(row);
    parent = row;
  }
  return rows;
}
