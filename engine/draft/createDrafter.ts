import { CostController, type DraftController, fixedController } from '../decode/controller.ts';
import type { CostTable } from '../model/costTable.ts';
import type { SpeculationSettings } from '../protocol.ts';
import type { Drafter } from './drafter.ts';
import { NgramDrafter } from './ngram.ts';
import type { NgramParts } from './ngramSources.ts';

/** The drafter of an algorithm; none for plain decoding. */
export function createDrafter({ algorithm }: SpeculationSettings, parts: NgramParts): Drafter | undefined {
  switch (algorithm) {
    case 'none':
      return undefined;
    case 'auto':
    case 'ngram':
      return new NgramDrafter(parts);
  }
}

export function createController({ numDraftTokens }: SpeculationSettings, costs: CostTable): DraftController {
  return numDraftTokens === undefined ? new CostController(costs) : fixedController(numDraftTokens);
}
