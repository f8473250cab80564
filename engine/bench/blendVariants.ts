import { CostModel } from '../cost/costModel.ts';
import { DraftTemperature } from '../cost/draftTemperature.ts';
import { CostController, type DraftController, fixedController } from '../decode/controller.ts';
import { Agreement, type Opinions } from '../draft/agreement.ts';
import { BlendDrafter, type LearnedPart } from '../draft/blend.ts';
import type { Drafter } from '../draft/drafter.ts';
import { DraftSearch } from '../draft/draftSearch.ts';
import type { Guess, GuessSource, PathEnd } from '../draft/guess.ts';
import { NgramDrafter } from '../draft/ngram.ts';
import type { NgramParts } from '../draft/ngramSources.ts';
import { RecyclingDrafter } from '../draft/recycling.ts';
import type { CostTable } from '../model/costTable.ts';
import { type DraftTimes, TableClock, TimedController, TimedDrafter } from './tableTime.ts';

/** What all variants draft from. */
export interface VariantParts {
  readonly ngram: NgramParts;
  readonly costTable: CostTable;
  readonly learned?: (LearnedPart & { readonly times: DraftTimes }) | undefined;
}

/** A drafter that learns from task to task, and the time it took by the table. */
export interface Variant {
  readonly drafter: Drafter | undefined;
  readonly controller: TimedController;
}

/** Bound of what the free sources may take in a step. */
const FREE_MS = 0.05;
/** Nodes of each tree where no cost decides: what published systems draft on a CPU. */
const FIXED_NODES = 8;

/** The blend, its parts alone, and the blend without each of its ideas; plain decoding first. */
export const variants: Readonly<Record<string, (parts: VariantParts) => Variant | undefined>> = {
  none: ({ costTable }) => timed(undefined, costTable),
  ngram: ({ ngram, costTable }) => timed(new NgramDrafter(ngram), costTable),
  recycled: ({ ngram, costTable }) => timed(new RecyclingDrafter(ngram.vocabSize), costTable),
  learned: learnedAlone,
  blend: (parts) => blend(parts),
  'without learned': (parts) => blend({ ...parts, learned: undefined }),
  'without changed copies': (parts) =>
    blend(parts, (sources) => new DraftSearch(without(sources, 'changedCopy'))),
  'without recycled': (parts) => blend(parts, (sources) => new DraftSearch(without(sources, 'recycled'))),
  'without online learning': (parts) => blend(parts, fixedSearch(initialAgreement)),
  'without mixing: the largest estimate': (parts) =>
    blend(parts, (sources) => new DraftSearch(sources, largestEstimate)),
  'without either': (parts) =>
    blend(
      parts,
      fixedSearch(() => largestEstimate),
    ),
  'without the cost table': blendWithoutCosts,
};

function timed(drafter: Drafter | undefined, table: CostTable): Variant {
  const controller = new CostController(new CostModel(table));
  return { drafter, controller: new TimedController(controller, table, new TableClock(), FREE_MS) };
}

function learnedAlone({ learned, costTable }: VariantParts): Variant | undefined {
  if (!learned) return undefined;
  const clock = new TableClock();
  const drafter = new TimedDrafter(learned.drafter, learned.times, clock);
  const controller = new CostController(new CostModel(costTable), new DraftTemperature());
  return { drafter, controller: new TimedController(controller, costTable, clock, 0) };
}

type CreateSearch = (sources: readonly GuessSource[]) => DraftSearch;

function blend(parts: VariantParts, createSearch?: CreateSearch): Variant {
  const costs = new CostModel(parts.costTable);
  return blendWith(parts, costs, new CostController(costs), createSearch);
}

/** Every node is worth the same, and the learned drafter always runs. */
function blendWithoutCosts(parts: VariantParts): Variant {
  const nodeCounts = [1, 2];
  const free = new CostModel({ nodeCounts, contexts: [1], ms: [nodeCounts.map(() => 1e6)] });
  return blendWith(parts, free, fixedController(FIXED_NODES));
}

function blendWith(
  { ngram, learned, costTable }: VariantParts,
  costs: CostModel,
  controller: DraftController,
  createSearch?: CreateSearch,
): Variant {
  const clock = new TableClock();
  const drafter = new BlendDrafter({
    ngram,
    costs,
    learned: learned && { ...learned, drafter: new TimedDrafter(learned.drafter, learned.times, clock) },
    now: () => clock.ms,
    ...(createSearch && { createSearch }),
  });
  return { drafter, controller: new TimedController(controller, costTable, clock, FREE_MS) };
}

function without(sources: readonly GuessSource[], name: string): GuessSource[] {
  return sources.filter((source) => source.name !== name);
}

/** What sources and their mixing were fitted to, for good. */
function fixedSearch(agreementOf: (sources: readonly GuessSource[]) => MixingRule): CreateSearch {
  return (sources) => {
    const agreement = agreementOf(sources);
    return new DraftSearch(sources.map(unlearning), {
      probability: (opinions, heard) => agreement.probability(opinions, heard),
      observe: () => {},
    });
  };
}

type MixingRule = Pick<Agreement, 'probability'>;

const initialAgreement = (sources: readonly GuessSource[]) => new Agreement(sources.map(({ name }) => name));

const largestEstimate = {
  probability: (opinions: Opinions) => Math.max(...opinions.map((guess) => guess?.probability ?? 0)),
  observe: () => {},
};

function unlearning(source: GuessSource): GuessSource {
  return {
    name: source.name,
    after: (end: PathEnd, own: Guess | undefined) => source.after(end, own),
    learn: () => {},
  };
}
