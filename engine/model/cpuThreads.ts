import type { CompiledModel } from '../compile/compileModel.ts';
import { type CostTable, measureCostTable, suggestionMs } from './costTable.ts';
import type { CostTableStore } from './costTableStore.ts';
import type { LanguageModel } from './languageModel.ts';

/** A number of threads and what passes cost with it. */
export interface ThreadChoice {
  readonly threads: number;
  readonly costTable: CostTable;
}

type Load = (compiled: CompiledModel, threads: number) => Promise<LanguageModel>;

/** More threads have to win by this much: they take the cores that the editor needs. */
const CLEARLY = 0.95;

/** The choice made on this machine before; undefined when some number of threads was not measured yet. */
export async function knownThreads(
  compiled: CompiledModel,
  store: CostTableStore,
  most: number,
): Promise<ThreadChoice | undefined> {
  const measured: ThreadChoice[] = [];
  for (const threads of threadCounts(most)) {
    const costTable = await store.read(compiled, circumstances(threads));
    if (!costTable) return undefined;
    measured.push({ threads, costTable });
  }
  return fastest(measured);
}

/**
 * Measures which number of threads is fastest: the products of a small model are so short that sharing them out can cost
 * more than it saves, those of a large one are not. Loads the model once for each, the first time on a machine.
 */
export async function chooseThreads(
  compiled: CompiledModel,
  store: CostTableStore,
  most: number,
  load: Load,
): Promise<ThreadChoice> {
  const measured: ThreadChoice[] = [];
  for (const threads of threadCounts(most)) {
    const model = await load(compiled, threads);
    try {
      const costTable = await measureCostTable(model);
      await store.write(compiled, circumstances(threads), costTable);
      measured.push({ threads, costTable });
    } finally {
      await model.dispose();
    }
  }
  return fastest(measured);
}

/** Powers of two up to `most`, and `most` itself. */
function threadCounts(most: number): number[] {
  const counts: number[] = [];
  for (let count = 1; count < most; count *= 2) counts.push(count);
  return [...counts, most];
}

function fastest(measured: readonly ThreadChoice[]): ThreadChoice {
  return measured.reduce((best, choice) =>
    suggestionMs(choice.costTable) < CLEARLY * suggestionMs(best.costTable) ? choice : best,
  );
}

const circumstances = (threads: number) => `${threads} threads`;
