import type { LanguageModel } from '../model/languageModel.ts';
import { SequencePool } from '../sequence/sequencePool.ts';
import { Session } from './session.ts';

/** The target's prefix cache. */
export class SessionPool extends SequencePool<Session> {
  constructor(model: LanguageModel, limit: number) {
    super((prompt) => new Session(model.createKvCache(prompt.length), model.info), limit);
  }
}
