import { CostController, type DraftController, fixedController } from '../decode/controller.ts';
import type { CostTable } from '../model/costTable.ts';
import type { Algorithm } from '../protocol.ts';
import type { Drafter } from './drafter.ts';
import { NgramDrafter, type NgramDrafterParts } from './ngram.ts';

export interface DraftSettings {
  readonly algorithm: Algorithm;
  /** A fixed number of draft tokens a step; absent: as many as pay. */
  readonly numDraftTokens?: number | undefined;
}

/** The drafter of an algorithm; none for plain decoding. */
export function createDrafter({ algorithm }: DraftSettings, parts: NgramDrafterParts): Drafter | undefined {
  switch (algorithm) {
    case 'none':
      return undefined;
    case 'auto':
    case 'ngram':
      return new NgramDrafter(parts);
  }
}

export function createController({ numDraftTokens }: DraftSettings, costs: CostTable): DraftController {
  return numDraftTokens === undefined ? new CostController(costs) : fixedController(numDraftTokens);
}
