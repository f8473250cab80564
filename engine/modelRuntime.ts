import { idleSessions } from './config.ts';
import { type DecodeRequest, type DecodeResult, type DecodeStrategy, decode } from './decode/decoder.ts';
import { SessionPool } from './decode/sessionPool.ts';
import type { CostTable } from './model/costTable.ts';
import type { LanguageModel } from './model/languageModel.ts';
import { type OpenModelOptions, openModel } from './model/openModel.ts';
import { loadTokenizer, type Tokenizer } from './model/tokenizer.ts';

/** A model ready to decode: weights, tokenizer, what its passes cost here, and the prefix cache. */
export class ModelRuntime {
  readonly dir: string;
  readonly model: LanguageModel;
  readonly tokenizer: Tokenizer;
  readonly costTable: CostTable;
  /** Why the device is another one than was asked for, in words for the user. */
  readonly deviceNote: string | undefined;
  readonly #pool: SessionPool;
  #turn: Promise<unknown> = Promise.resolve();

  private constructor(
    dir: string,
    tokenizer: Tokenizer,
    opened: { model: LanguageModel; costTable: CostTable; deviceNote?: string | undefined },
  ) {
    this.dir = dir;
    this.tokenizer = tokenizer;
    this.model = opened.model;
    this.costTable = opened.costTable;
    this.deviceNote = opened.deviceNote;
    this.#pool = new SessionPool(opened.model, idleSessions);
  }

  /** @throws SlipstreamError model.*, io, device.unavailable, outOfMemory */
  static async load(dir: string, options: OpenModelOptions): Promise<ModelRuntime> {
    const [tokenizer, opened] = await Promise.all([loadTokenizer(dir), openModel(dir, options)]);
    return new ModelRuntime(dir, tokenizer, opened);
  }

  /**
   * Decodes on the idle session that shares most with the prompt. One at a time: a request waits for the one before
   * it, which is cancelled by then and leaves the KV rows that this one continues.
   */
  decode(strategy: DecodeStrategy, request: DecodeRequest): Promise<DecodeResult> {
    const decoding = this.#turn.then(() => this.#decode(strategy, request));
    this.#turn = decoding.catch(() => {});
    return decoding;
  }

  /** Waits for what is being decoded: abort it first. */
  async dispose(): Promise<void> {
    await this.#turn;
    this.#pool.dispose();
    await this.model.dispose();
  }

  async #decode(strategy: DecodeStrategy, request: DecodeRequest): Promise<DecodeResult> {
    const session = this.#pool.acquire(request.prompt.tokens);
    try {
      return await decode(session, strategy, request);
    } finally {
      this.#pool.release(session);
    }
  }
}
