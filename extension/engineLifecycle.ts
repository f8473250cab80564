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
  /** When the engine crashed lately. */
  readonly crashesAtMs: readonly number[];
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
  | { readonly kind: 'exited'; readonly atMs: number; readonly how: string };

export const restartBudget = { crashes: 5, withinMs: 180_000 } as const;

export const initialLifecycle: Lifecycle = { state: { kind: 'stopped' }, crashesAtMs: [] };

/** A new `starting` state asks for a process; leaving `starting` or `ready` gives it up. */
export function next(lifecycle: Lifecycle, event: EngineEvent): Lifecycle {
  const { state, crashesAtMs } = lifecycle;
  const isRunning = state.kind === 'starting' || state.kind === 'ready';
  switch (event.kind) {
    case 'start':
      return isRunning ? lifecycle : { state: { kind: 'starting', runtime: 'vscode' }, crashesAtMs: [] };
    case 'stop':
      return state.kind === 'stopped' ? lifecycle : initialLifecycle;
    case 'ready':
      if (!isRunning) return lifecycle;
      return {
        state: { kind: 'ready', runtime: state.runtime, model: event.model, isChanging: false },
        crashesAtMs,
      };
    case 'changing':
    case 'kept':
      if (state.kind !== 'ready' || state.isChanging === (event.kind === 'changing')) return lifecycle;
      return { state: { ...state, isChanging: event.kind === 'changing' }, crashesAtMs };
    case 'fault':
      if (!isRunning) return lifecycle;
      return { state: { kind: 'failed', cause: 'fault', message: event.message }, crashesAtMs };
    case 'exited':
      return isRunning ? afterCrash(state, crashesAtMs, event) : lifecycle;
  }
}

function afterCrash(
  state: Extract<EngineState, { runtime: Runtime }>,
  earlierMs: readonly number[],
  { atMs, how }: Extract<EngineEvent, { kind: 'exited' }>,
): Lifecycle {
  const crashesAtMs = [...earlierMs.filter((time) => atMs - time < restartBudget.withinMs), atMs];
  if (crashesAtMs.length >= restartBudget.crashes) {
    const message = `the engine ended ${crashesAtMs.length} times within 3 minutes, last with ${how}`;
    return { state: { kind: 'failed', cause: 'crashes', message }, crashesAtMs };
  }
  const runtime = state.kind === 'ready' ? state.runtime : otherRuntime(state.runtime);
  return { state: { kind: 'starting', runtime }, crashesAtMs };
}

function otherRuntime(runtime: Runtime): Runtime {
  return runtime === 'vscode' ? 'path' : 'vscode';
}
