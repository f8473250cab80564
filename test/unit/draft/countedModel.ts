import type { TestContext } from 'node:test';
import type { ForwardBatch, KvCache, LanguageModel } from '../../../engine/model/languageModel.ts';

/** A model that counts what is evaluated on it, and can be made slow. */
export class CountedModel implements LanguageModel {
  readonly #model: LanguageModel;
  /** Tokens evaluated so far. */
  tokens = 0;
  passes = 0;
  /** KV caches that were made and not disposed. */
  caches = 0;
  /** Called when a pass begins. */
  onPass = () => {};
  #msPerToken = 0;
  #clockMs = 0;

  constructor(model: LanguageModel) {
    this.#model = model;
  }

  get info() {
    return this.#model.info;
  }

  /**
   * Until the test is over, time passes with evaluated tokens alone: what a busy machine does in between is not the model's.
   */
  slowDown(t: TestContext, msPerToken: number): void {
    this.#msPerToken = msPerToken;
    t.mock.method(performance, 'now', () => this.#clockMs);
  }

  /** What `work` evaluates: tokens and passes. */
  async count(work: () => Promise<unknown>): Promise<{ tokens: number; passes: number }> {
    const { tokens, passes } = this;
    await work();
    return { tokens: this.tokens - tokens, passes: this.passes - passes };
  }

  createKvCache(capacity: number): KvCache {
    const kv = this.#model.createKvCache(capacity);
    this.caches++;
    return {
      get length() {
        return kv.length;
      },
      get exactDepth() {
        return kv.exactDepth;
      },
      get bytes() {
        return kv.bytes;
      },
      forward: (batch) => {
        this.#evaluate(batch);
        return kv.forward(batch);
      },
      commit: (path) => kv.commit(path),
      truncate: (length) => kv.truncate(length),
      reserve: (rows) => kv.reserve(rows),
      dispose: () => {
        this.caches--;
        kv.dispose();
      },
    };
  }

  dispose(): Promise<void> {
    return this.#model.dispose();
  }

  #evaluate({ tokens }: ForwardBatch): void {
    this.tokens += tokens.length;
    this.passes++;
    this.onPass();
    this.#clockMs += this.#msPerToken * tokens.length;
  }
}
