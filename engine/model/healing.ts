import { type CompiledGraph, discardCompiled } from '../compile/graphCache.ts';
import { SlipstreamError } from '../errors.ts';

/** What a graph is loaded with, and what it is compiled from once more. */
export interface Healing<Graph extends CompiledGraph, Loaded> {
  readonly compile: () => Promise<Graph>;
  readonly load: (compiled: Graph) => Promise<Loaded>;
  readonly log: (level: 'warn', message: string) => void;
}

/**
 * Loads a compiled graph. One that cannot be loaded, or computes no numbers, was damaged on disk: what it was compiled from
 * still has all that it takes, and it is compiled again.
 *
 * @throws what `load` throws, model.corrupt only of a graph just compiled; what `compile` throws
 */
export async function loadHealing<Graph extends CompiledGraph, Loaded>(
  compiled: Graph,
  { compile, load, log }: Healing<Graph, Loaded>,
): Promise<{ readonly loaded: Loaded; readonly compiled: Graph }> {
  try {
    return { loaded: await load(compiled), compiled };
  } catch (error) {
    if (!(error instanceof SlipstreamError) || error.code !== 'model.corrupt') throw error;
    log('warn', `${error.message} It is compiled again.`);
    await discardCompiled(compiled);
    const again = await compile();
    return { loaded: await load(again), compiled: again };
  }
}
