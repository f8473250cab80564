import type { ModelFacts } from '../engine/protocol.ts';

/** VS Code's own Node, or the `node` on PATH for when a native module does not load in the former. */
export type Runtime = 'vscode' | 'path';

export type EngineState =
  | { readonly kind: 'stopped' }
  | { readonly kind: 'starting'; readonly runtime: Runtime }
  | {
      readonly kind: 'ready';
      readonly runtime: Runtime;
      readonly model: ModelFacts;
      /** Other settings were asked for; until it has what they need it answers as it is. */
      readonly isChanging: boolean;
    }
  /** Nothing is tried again until somebody starts it. */
  | { readonly kind: 'failed'; readonly cause: 'crashes' | 'fault'; readonly message: string };

export interface Lifecycle {
  readonly state: EngineState;
  readonly recentCrashes: readonly Crash[];
}

export interface Crash {
  readonly atMs: number;
  /** In words. */
  readonly how: string;
}

export type EngineEvent =
  | { readonly kind: 'start' }
  | { readonly kind: 'stop' }
  | { readonly kind: 'ready'; readonly model: ModelFacts }
  /** Settings that take time were asked for, and, instead of `ready`: could not be had. */
  | { readonly kind: 'changing' }
  | { readonly kind: 'kept' }
  /** The engine runs but refuses to work, a model that does not load for instance: trying again changes nothing. */
  | { readonly kind: 'fault'; readonly message: string }
  | ({ readonly kind: 'exited' } & Crash);

export const restartBudget = { crashes: 5, withinMs: 180_000 } as const;

export const initialLifecycle: Lifecycle = { state: { kind: 'stopped' }, recentCrashes: [] };

/** A new `starting` state asks for a process; leaving `starting` or `ready` gives it up. */
export function next(lifecycle: Lifecycle, event: EngineEvent): Lifecycle {
  const { state, recentCrashes } = lifecycle;
  const isRunning = state.kind === 'starting' || state.kind === 'ready';
  switch (event.kind) {
    case 'start':
      return isRunning ? lifecycle : { state: { kind: 'starting', runtime: 'vscode' }, recentCrashes: [] };
    case 'stop':
      return state.kind === 'stopped' ? lifecycle : initialLifecycle;
    case 'ready':
      if (!isRunning) return lifecycle;
      return {
        state: { kind: 'ready', runtime: state.runtime, model: event.model, isChanging: false },
        recentCrashes,
      };
    case 'changing':
    case 'kept':
      if (state.kind !== 'ready' || state.isChanging === (event.kind === 'changing')) return lifecycle;
      return { state: { ...state, isChanging: event.kind === 'changing' }, recentCrashes };
    case 'fault':
      if (!isRunning) return lifecycle;
      return { state: { kind: 'failed', cause: 'fault', message: event.message }, recentCrashes };
    case 'exited':
      return isRunning ? afterCrash(state, recentCrashes, event) : lifecycle;
  }
}

function afterCrash(
  state: Extract<EngineState, { runtime: Runtime }>,
  earlier: readonly Crash[],
  { atMs, how }: Crash,
): Lifecycle {
  const recentCrashes = [...earlier.filter((one) => atMs - one.atMs < restartBudget.withinMs), { atMs, how }];
  if (recentCrashes.length >= restartBudget.crashes) {
    return {
      state: { kind: 'failed', cause: 'crashes', message: tooManyCrashes(recentCrashes) },
      recentCrashes,
    };
  }
  const runtime = state.kind === 'ready' ? state.runtime : otherRuntime(state.runtime);
  return { state: { kind: 'starting', runtime }, recentCrashes };
}

function otherRuntime(runtime: Runtime): Runtime {
  return runtime === 'vscode' ? 'path' : 'vscode';
}

/** Each way once: the last one may be of the other Node, which is not to blame when there is none. */
function tooManyCrashes(crashes: readonly Crash[]): string {
  const minutes = restartBudget.withinMs / 60_000;
  const ways = [...new Set(crashes.map(({ how }) => how))].join('; ');
  return `the engine ended ${crashes.length} times within ${minutes} minutes (${ways}). The log says what came before it.`;
}
