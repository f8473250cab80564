import { runScript } from './childScript.ts';
import type { Section } from './report.ts';

/** The workspace index on 10 million synthetic tokens, in its own words. */
export async function measureIndex(): Promise<Section> {
  const lines = (await runScript('engine/bench/ngramIndexBench.ts', [])).trim().split('\n');
  return {
    title: 'Workspace index: 10 million synthetic tokens',
    figures: [],
    notes: lines,
    faults: [],
    details: lines,
  };
}
