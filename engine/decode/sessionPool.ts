import type { LanguageModel } from '../model/languageModel.ts';
import { Session } from './session.ts';

/** Reusing fewer rows than this is not worth giving up those that a session holds, unless they are hardly more. */
const WORTH_REUSING = 32;

/**
 * The prefix cache: idle sessions, whose KV rows serve a prompt that begins alike. A keystroke finds the session of
 * the keystroke before; going back to another document finds the one that was left there.
 */
export class SessionPool {
  readonly #model: LanguageModel;
  readonly #limit: number;
  /** Least recently used first. */
  readonly #idle: Session[] = [];

  constructor(model: LanguageModel, limit: number) {
    this.#model = model;
    this.#limit = limit;
  }

  /** Hands a session over to its new owner, who gives it back with `release`. */
  acquire(prompt: Int32Array): Session {
    const session = this.#choose(prompt);
    if (!session) return new Session(this.#model.createKvCache(prompt.length), this.#model.info);
    this.#idle.splice(this.#idle.indexOf(session), 1);
    return session;
  }

  release(session: Session): void {
    this.#idle.push(session);
    while (this.#idle.length > this.#limit) this.#idle.shift()?.dispose();
  }

  /** Bytes of KV rows held by idle sessions. */
  get bytes(): number {
    return this.#idle.reduce((sum, session) => sum + session.bytes, 0);
  }

  dispose(): void {
    for (const session of this.#idle.splice(0)) session.dispose();
  }

  /** The one that is worth reusing; with no space for another one, the one that nobody has asked for longest. */
  #choose(prompt: Int32Array): Session | undefined {
    const best = this.#best(prompt);
    if (best && isWorthReusing(best, prompt)) return best;
    return this.#idle.length < this.#limit ? undefined : this.#idle[0];
  }

  /** The one that reuses most; the least recently used one among equals. */
  #best(prompt: Int32Array): Session | undefined {
    let best: Session | undefined;
    let most = -1;
    for (const session of this.#idle) {
      const reusable = session.reusable(prompt);
      if (reusable > most) [best, most] = [session, reusable];
    }
    return best;
  }
}

function isWorthReusing(session: Session, prompt: Int32Array): boolean {
  const reusable = session.reusable(prompt);
  return reusable >= WORTH_REUSING || 2 * reusable >= session.rows;
}
