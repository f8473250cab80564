import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { ModelFacts } from '../../../engine/protocol.ts';
import {
  type EngineEvent,
  initialLifecycle,
  type Lifecycle,
  next,
  restartBudget,
} from '../../../extension/engineLifecycle.ts';

const model: ModelFacts = { name: 'm', device: 'cpu', precision: 'int8', algorithm: 'auto' };
const ready: EngineEvent = { kind: 'ready', model };
const exitedAt = (atMs: number): EngineEvent => ({ kind: 'exited', atMs, how: 'signal SIGKILL' });

function after(...events: readonly EngineEvent[]): Lifecycle {
  return events.reduce(next, initialLifecycle);
}

test('starts, gets ready, stops', () => {
  assert.deepEqual(after({ kind: 'start' }).state, { kind: 'starting', runtime: 'vscode' });
  const running = { kind: 'ready', runtime: 'vscode', model, isChanging: false };
  assert.deepEqual(after({ kind: 'start' }, ready).state, running);
  const stopped = after({ kind: 'start' }, ready, { kind: 'stop' });
  assert.deepEqual(stopped.state, { kind: 'stopped' });
  assert.equal(next(stopped, { kind: 'stop' }), stopped, 'nothing more to stop');
});

test('a change of settings under way is told until it is made or refused', () => {
  const isChanging = (...events: EngineEvent[]) => {
    const { state } = after({ kind: 'start' }, ready, ...events);
    return state.kind === 'ready' && state.isChanging;
  };
  assert.ok(isChanging({ kind: 'changing' }));
  assert.ok(!isChanging({ kind: 'changing' }, ready));
  assert.ok(!isChanging({ kind: 'changing' }, { kind: 'kept' }));
  const stopped = after({ kind: 'stop' });
  assert.equal(next(stopped, { kind: 'changing' }), stopped);
});

test('an engine that ends while it loads is tried on the other Node, one that ends later on the same', () => {
  assert.deepEqual(after({ kind: 'start' }, exitedAt(0)).state, { kind: 'starting', runtime: 'path' });
  const later = after({ kind: 'start' }, exitedAt(0), ready, exitedAt(1));
  assert.deepEqual(later.state, { kind: 'starting', runtime: 'path' });
  assert.deepEqual(after({ kind: 'start' }, ready, exitedAt(0)).state, {
    kind: 'starting',
    runtime: 'vscode',
  });
});

test('five crashes within three minutes are the end, until somebody starts it again', () => {
  const crashes = [0, 40_000, 80_000, 120_000, 179_999].flatMap((atMs) => [ready, exitedAt(atMs)]);
  const given = after({ kind: 'start' }, ...crashes);
  assert.equal(given.state.kind, 'failed');
  assert.match(given.state.kind === 'failed' ? given.state.message : '', /5 times.*SIGKILL/);
  assert.equal(next(given, exitedAt(180_000)), given, 'a late exit changes nothing');
  const again = next(given, { kind: 'start' });
  assert.equal(next(again, exitedAt(180_001)).state.kind, 'starting', 'with a fresh budget');
});

test('who gave up says each way in which the engine ended: the last one may be of a Node that is not there', () => {
  const missing: EngineEvent = { kind: 'exited', atMs: 1, how: 'spawn node ENOENT' };
  const { state } = after(
    { kind: 'start' },
    ...Array.from({ length: 5 }, (_, i) => (i % 2 === 0 ? exitedAt(1) : missing)),
  );
  assert.equal(
    state.kind === 'failed' && state.message,
    'the engine ended 5 times within 3 minutes (signal SIGKILL; spawn node ENOENT). The log says what came before it.',
  );
});

test('crashes further apart never end it', () => {
  const apart = restartBudget.withinMs / (restartBudget.crashes - 1);
  const crashes = Array.from({ length: 50 }, (_, i) => exitedAt(i * apart));
  assert.equal(after({ kind: 'start' }, ...crashes).state.kind, 'starting');
});

test('a fault is final and keeps its message; nothing is restarted over it', () => {
  const failed = after({ kind: 'start' }, { kind: 'fault', message: 'no such model' });
  assert.deepEqual(failed.state, { kind: 'failed', cause: 'fault', message: 'no such model' });
  assert.equal(next(failed, ready), failed);
});

test('whatever happens, an engine that is stopped stays stopped until it is started', () => {
  const events = fc.oneof(
    fc.constant(ready),
    fc.constant<EngineEvent>({ kind: 'stop' }),
    fc.constant<EngineEvent>({ kind: 'fault', message: 'x' }),
    fc.nat(1e6).map(exitedAt),
  );
  fc.assert(
    fc.property(fc.array(events), (some) => {
      assert.equal(some.reduce(next, after({ kind: 'start' }, { kind: 'stop' })).state.kind, 'stopped');
    }),
  );
});
