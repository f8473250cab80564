import type { CompiledModel } from '../compile/compileModel.ts';
import { type CostTable, measureCostTable, suggestionMs } from './costTable.ts';
import type { CostTableStore, Moment } from './costTableStore.ts';
import { isSpinning } from './cpuSession.ts';
import type { LanguageModel } from './languageModel.ts';

/** A number of threads and what passes cost with it. */
export interface ThreadChoice {
  readonly threads: number;
  readonly costTable: CostTable;
}

type Load = (compiled: CompiledModel, threads: number) => Promise<LanguageModel>;

/** More threads have to win by this much: they take the cores that the editor needs. */
const CLEARLY = 0.95;
/** A single thread that gets less of a processor than this shares it. */
const ALONE = 0.85;

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
  const measured: Measurement[] = [];
  for (const threads of threadCounts(most)) {
    const model = await load(compiled, threads);
    try {
      measured.push({ threads, ...(await measure(model)) });
    } finally {
      await model.dispose();
    }
  }
  // Each number had a moment of its own: in busy ones the comparison says little.
  const moment: Moment = measured[0].cpuShare < ALONE ? 'busy' : 'quiet';
  for (const { threads, costTable } of measured)
    await store.write(compiled, circumstances(threads), costTable, moment);
  return fastest(measured);
}

interface Measurement extends ThreadChoice {
  /** Of the time that it took, how much this process had a processor: up to 1 with one thread. */
  readonly cpuShare: number;
}

async function measure(model: LanguageModel): Promise<Omit<Measurement, 'threads'>> {
  const [cpuBefore, began] = [process.cpuUsage(), performance.now()];
  const costTable = await measureCostTable(model);
  const { user, system } = process.cpuUsage(cpuBefore);
  return { costTable, cpuShare: (user + system) / 1000 / (performance.now() - began) };
}

/** 1, the powers of two below `most`, and `most` itself. */
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

const circumstances = (threads: number) => `${threads} threads${isSpinning(threads) ? ', spinning' : ''}`;
