import { chainParents } from '../tree/treeShape.ts';
import type { KvCache, LanguageModel } from './languageModel.ts';

const NODE_COUNTS = [1, 2, 4, 8, 16, 32] as const;
const CONTEXTS = [128, 1024] as const;
/** The least of a few runs: what the pass costs when nothing else disturbs it. */
const REPETITIONS = 4;
/** Shortest passes before each round: one right after the longest would take up to a quarter longer than it does in decoding. */
const LEAD_IN = 3;
const FILL_CHUNK = 256;
/** After this long a slow device is known well enough: what is begun is finished, a row at least. */
const ENOUGH_MS = 3000;

/** Measured time of a forward pass, by number of new tokens and length of the context. */
export interface CostTable {
  readonly nodeCounts: readonly number[];
  readonly contexts: readonly number[];
  readonly ms: readonly (readonly number[])[]; // [context, nodeCount]
}

/** Measures this machine: some seventy short passes over empty rows (their content does not change the time). */
export async function measureCostTable(model: LanguageModel): Promise<CostTable> {
  const { contextLength } = model.info;
  const nodeCounts = NODE_COUNTS.filter((nodes) => nodes <= contextLength);
  const roomy = CONTEXTS.filter((context) => context + 32 <= contextLength);
  const contexts = roomy.length > 0 ? roomy : [0];
  const ms: number[][] = [];
  const deadline = performance.now() + ENOUGH_MS;
  for (const context of contexts) {
    if (ms.length > 0 && performance.now() > deadline) break;
    ms.push(atLeast(ms.at(-1), await measureRow(model, context, nodeCounts, deadline)));
  }
  return { nodeCounts, contexts: contexts.slice(0, ms.length), ms };
}

async function measureRow(
  model: LanguageModel,
  context: number,
  nodeCounts: readonly number[],
  deadline: number,
): Promise<number[]> {
  const kv = model.createKvCache(context);
  try {
    if (model.info.device !== 'cpu') await fill(kv, context);
    return await measurePasses(kv, nodeCounts, deadline);
  } finally {
    kv.dispose();
  }
}

async function measurePasses(
  kv: KvCache,
  nodeCounts: readonly number[],
  deadline: number,
): Promise<number[]> {
  const times = nodeCounts.map(() => Number.POSITIVE_INFINITY);
  // Round by round rather than size by size, so that a disturbance does not fall on one size alone.
  for (let round = 0; round < REPETITIONS && (round === 0 || performance.now() < deadline); round++) {
    for (let pass = 0; pass < LEAD_IN; pass++) await runPass(kv, nodeCounts[0]);
    for (const [i, nodes] of nodeCounts.entries()) {
      times[i] = Math.min(times[i], await runPass(kv, nodes));
    }
  }
  // More nodes never cost less: what says so is noise, and would make the controller draft for nothing.
  for (let i = 1; i < times.length; i++) times[i] = Math.max(times[i], times[i - 1]);
  return times;
}

/** @returns ms */
async function runPass(kv: KvCache, nodes: number): Promise<number> {
  const tokens = new Int32Array(nodes).fill(1);
  const started = performance.now();
  await kv.forward({
    tokens,
    parents: chainParents(nodes),
    rows: tokens.map((_, row) => row),
    want: 'argmax',
  });
  return performance.now() - started;
}

/** A longer context never makes a pass cheaper: what says so is noise, and far beyond it passes would cost nothing. */
function atLeast(shorter: readonly number[] | undefined, times: readonly number[]): number[] {
  return times.map((time, i) => Math.max(time, shorter?.[i] ?? 0));
}

/** On the CPU a pass costs what the capacity makes it cost; elsewhere rows cost time only when they are there. */
async function fill(kv: KvCache, rows: number): Promise<void> {
  while (kv.length < rows) {
    const tokens = new Int32Array(Math.min(FILL_CHUNK, rows - kv.length)).fill(1);
    await kv.forward({ tokens, rows: new Int32Array(0), want: 'argmax' });
    await kv.commit(tokens.map((_, row) => row));
  }
}

/** Passes of a suggestion in mid-document: a few typed tokens, then steps with no, some and many draft tokens. */
export function suggestionMs(table: CostTable): number {
  return [1, 4, 8, 16].reduce((sum, nodes) => sum + passMs(table, nodes, 1024), 0);
}

/** Time of a pass over `nodes` new tokens, linear between what was measured and beyond it. */
export function passMs(table: CostTable, nodes: number, context: number): number {
  const rows = table.ms.map((row) => interpolate(table.nodeCounts, row, nodes));
  return interpolate(table.contexts, rows, Math.max(context, table.contexts[0]));
}

function interpolate(xs: readonly number[], ys: readonly number[], x: number): number {
  if (xs.length === 1) return ys[0];
  let i = 1;
  while (i < xs.length - 1 && xs[i] < x) i++;
  const slope = (ys[i] - ys[i - 1]) / (xs[i] - xs[i - 1]);
  return Math.max(0, ys[i - 1] + slope * (x - xs[i - 1]));
}
