import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { elapsedMs } from '../../../engine/bench/micro/timing.ts';
import { median } from '../../../engine/benchmark/statistics.ts';
import type { SessionView } from '../../../engine/draft/drafter.ts';
import { SessionHistory } from '../../../engine/draft/sessionHistory.ts';
import {
  newSessionId,
  noHiddenRows,
  prefixFirst,
  specialTokenIds,
  suffixFirst,
  VOCAB_SIZE,
} from './sessionView.ts';

const tokens = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 40 });
/** A request of a user who types: what changes against the last request, and what is generated, step by step. */
const request = fc.record({
  keep: fc.integer({ min: 0, max: 40 }),
  typed: fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 4 }),
  suffix: fc.option(tokens, { nil: undefined }),
  steps: fc.array(fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 5 }), { maxLength: 4 }),
  order: fc.constantFrom(suffixFirst, prefixFirst),
});

function found(history: SessionHistory): string[] {
  return history.lookup(history.tail()).map(({ length, text, next }) => {
    const end = text.tokens.indexOf(text.separator as never, next);
    return `${length}: ${text.tokens.subarray(next, end)}`;
  });
}

function fresh(view: SessionView): SessionHistory {
  const history = new SessionHistory(VOCAB_SIZE, specialTokenIds);
  history.follow(view);
  return history;
}

test('following sessions and steps leaves the history as if it had seen only the last view', () => {
  fc.assert(
    fc.property(fc.array(request, { minLength: 1, maxLength: 6 }), (requests) => {
      const history = new SessionHistory(VOCAB_SIZE, specialTokenIds);
      let prefix: number[] = [];
      let suffix: number[] = [];
      for (const { keep, typed, suffix: newSuffix, steps, order } of requests) {
        prefix = [...prefix.slice(0, keep), ...typed];
        suffix = newSuffix ?? suffix;
        const id = newSessionId();
        const generated: number[] = [];
        for (const [i, step] of [[], ...steps].entries()) {
          generated.push(...step);
          const view = order({ prefix, suffix, generated }, id);
          assert.equal(history.follow(view), i === 0);
          assert.deepEqual(history.tail(), fresh(view).tail());
          assert.deepEqual([...history.cursorTail], prefix.slice(-32));
          assert.deepEqual(found(history), found(fresh(view)));
        }
        prefix = [...prefix, ...generated];
      }
    }),
  );
});

test('text that is taken out and put back at the same place is found once', () => {
  const history = new SessionHistory(VOCAB_SIZE, specialTokenIds);
  const prefix = [0, 1, 2, 3, 4, 0, 1, 2, 3];
  for (const suffix of [[5], [6], [5]]) history.follow(suffixFirst({ prefix, suffix }));
  assert.deepEqual(found(history), ['4: 4,0,1,2,3']);
});

test('a session far longer than the last one is taken in', () => {
  const history = new SessionHistory(VOCAB_SIZE, specialTokenIds);
  history.follow(suffixFirst({ prefix: [1] }));
  const prefix = Array.from({ length: 20_000 }, (_, i) => (Math.imul(i, 2654435761) >>> 9) % 89);
  history.follow(suffixFirst({ prefix: [...prefix, ...prefix.slice(5000, 5020)] }));
  assert.match(found(history)[0], new RegExp(`^20: ${prefix.slice(5020, 5100)}`));
});

test('a step costs nothing that grows with the context', () => {
  const history = new SessionHistory(VOCAB_SIZE, specialTokenIds);
  const prompt = Int32Array.from({ length: 200_000 }, (_, i) => (Math.imul(i, 2654435761) >>> 9) % 89);
  const all = Int32Array.from([...prompt, ...prompt.subarray(0, 200)]);
  const nothing = { start: 0, end: 0 };
  const view = (length: number): SessionView => ({
    id: 1,
    tokens: all.subarray(0, length),
    promptLength: prompt.length,
    prefix: { start: 0, end: prompt.length },
    suffix: nothing,
    hidden: noHiddenRows,
  });
  history.follow(view(prompt.length));
  const stepMs = Array.from({ length: 200 }, (_, i) =>
    elapsedMs(() => history.follow(view(prompt.length + i + 1))),
  );
  // The machine may do something else during some of them.
  assert.ok(median(stepMs) < 0.1, `${median(stepMs)} ms; reading 200,000 tokens takes more`);
});
