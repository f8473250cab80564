import { idleSessions } from './config.ts';
import {
  type DecodeRequest,
  type DecodeResult,
  type DecodeStrategy,
  decode,
  nothingDecoded,
} from './decode/decoder.ts';
import { isCarried, prefill } from './decode/prefill.ts';
import type { Session, SessionPrompt } from './decode/session.ts';
import { SessionPool } from './decode/sessionPool.ts';
import { outOfMemoryFault, SlipstreamError } from './errors.ts';
import type { CostTable } from './model/costTable.ts';
import type { LanguageModel } from './model/languageModel.ts';
import { type OpenedModel, type OpenModelOptions, openModel } from './model/openModel.ts';
import { loadTokenizer, type Tokenizer } from './model/tokenizer.ts';

/** What else belongs to a request's turn: it is done before the turn of the next request begins. */
export interface DecodeTurn {
  readonly begin: () => void;
  /** Called off while it is decoded, too; not when it was called off before. */
  readonly end: (decoded: DecodeResult) => void;
}

type SessionRequest = Pick<DecodeRequest, 'prompt' | 'signal'>;

/** A model ready to decode: weights, tokenizer, what its passes cost here, and the prefix cache. */
export class ModelRuntime {
  readonly dir: string;
  readonly model: LanguageModel;
  readonly tokenizer: Tokenizer;
  readonly costTable: CostTable;
  /** Why it is this device, in a sentence. */
  readonly deviceReason: string;
  /** The same, where it is another one than was asked for and the user should know. */
  readonly deviceNote: string | undefined;
  /** Of the CPU, for what runs beside the model too. */
  readonly threads: number;
  readonly #pool: SessionPool;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(dir: string, tokenizer: Tokenizer, opened: OpenedModel, mostThreads: number) {
    this.dir = dir;
    this.tokenizer = tokenizer;
    this.model = opened.model;
    this.costTable = opened.costTable;
    this.deviceReason = opened.deviceReason;
    this.deviceNote = opened.deviceNote;
    this.threads = opened.threads ?? mostThreads;
    this.#pool = new SessionPool(opened.model, idleSessions);
  }

  /** @throws SlipstreamError model.*, io, device.unavailable, outOfMemory */
  static async load(dir: string, options: OpenModelOptions): Promise<ModelRuntime> {
    const [opened, tokenizer] = await Promise.allSettled([openModel(dir, options), loadTokenizer(dir)]);
    if (opened.status === 'rejected') throw opened.reason;
    if (tokenizer.status === 'fulfilled') {
      return new ModelRuntime(dir, tokenizer.value, opened.value, options.threads);
    }
    await opened.value.model.dispose();
    throw tokenizer.reason;
  }

  /** Memory of the sessions kept for the next prompts: KV rows, and hidden states where drafters need them. */
  get sessionBytes(): number {
    return this.#pool.bytes;
  }

  /**
   * Decodes on the idle session that shares most with the prompt. One at a time: a request waits for the one before
   * it, which is cancelled by then and leaves the KV rows that this one continues.
   */
  async decode(strategy: DecodeStrategy, request: DecodeRequest, turn?: DecodeTurn): Promise<DecodeResult> {
    const decoded = await this.#inTurn(request, async (session) => {
      turn?.begin();
      const result = await decode(session, strategy, request);
      turn?.end(result);
      return result;
    });
    return decoded ?? nothingDecoded('cancelled');
  }

  /** Evaluates a prompt ahead of the request for it; called off, it leaves what is done. @returns the tokens evaluated */
  async prefill(prompt: SessionPrompt, signal: AbortSignal): Promise<number> {
    const evaluated = await this.#inTurn({ prompt, signal }, async (session) => {
      // Rows behind the prompt's, of a suggestion that may be accepted next, are left where they are.
      if (isCarried(prompt.tokens.length - session.reusable(prompt.tokens))) return 0;
      session.start(prompt);
      const pending = session.pending;
      await prefill(session, signal);
      return pending - session.pending;
    });
    return evaluated ?? 0;
  }

  /** Waits for what is being decoded: abort it first. */
  async dispose(): Promise<void> {
    await this.#turn;
    this.#pool.dispose();
    await this.model.dispose();
  }

  #inTurn<T>(request: SessionRequest, work: (session: Session) => Promise<T>): Promise<T | undefined> {
    const working = this.#turn.then(() => this.#onSession(request, work));
    this.#turn = working.catch(() => {});
    return working;
  }

  async #onSession<T>(
    { prompt, signal }: SessionRequest,
    work: (session: Session) => Promise<T>,
  ): Promise<T | undefined> {
    if (signal.aborted) return undefined; // no session is taken for it
    this.#checkVocabulary(prompt.tokens);
    let session: Session | undefined;
    try {
      session = this.#pool.acquire(prompt.tokens);
      const result = await work(session);
      this.#pool.release(session);
      return result;
    } catch (error) {
      session?.dispose(); // half a step may have been taken
      throw outOfMemoryFault(error) ?? error;
    }
  }

  #checkVocabulary(tokens: Int32Array): void {
    const { vocabSize } = this.model.info;
    const unknown = tokens.find((token) => token >= vocabSize);
    if (unknown === undefined) return;
    throw new SlipstreamError(
      'model.corrupt',
      `${this.dir}: the tokenizer's token ${unknown} is not in the model's vocabulary of ${vocabSize}.`,
    );
  }
}
