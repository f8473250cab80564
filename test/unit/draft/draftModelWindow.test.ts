import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { draftWindow } from '../../../engine/draft/draftModelWindow.ts';

const contexts = fc.record({
  draft: fc.integer({ min: 1, max: 600 }),
  target: fc.integer({ min: 1, max: 3000 }),
});

/** Levels that fit the draft model's context, and the target's: after a token more there is room for one less. */
function levels(length: number, { draft, target }: { draft: number; target: number }) {
  return {
    fit: draft - (length - draftWindow(length, { draft, target }).start) + 1,
    wanted: target - length,
  };
}

test('the window fits the draft model, and leaves room to draft as long as the target has some', () => {
  fc.assert(
    fc.property(contexts, (lengths) => {
      const room = Math.min(16, Math.floor(lengths.draft / 4));
      for (let length = 1; length <= lengths.target; length++) {
        const { fit, wanted } = levels(length, lengths);
        assert.ok(fit >= 1 + Math.min(wanted, room), `${fit} levels at ${length}`);
        assert.ok(draftWindow(length, lengths).start < length);
      }
    }),
  );
});

test('a draft model of the context of its target never forgets', () => {
  for (let length = 1; length <= 2048; length++) {
    assert.deepEqual(draftWindow(length, { draft: 2048, target: 2048 }), { start: 0 });
  }
});

test('the next window is due little by little, as a whole when it is needed, and begins where that one does', () => {
  fc.assert(
    fc.property(contexts, (lengths) => {
      let before = draftWindow(1, lengths);
      for (let length = 2; length <= lengths.target; length++) {
        const now = draftWindow(length, lengths);
        if (now.start !== before.start) {
          assert.equal(now.start, before.next?.start ?? now.start);
          // What falls due with the last token is the token itself.
          if (lengths.draft >= 8) assert.equal(before.next?.due, length - 1 - now.start);
        } else if (now.next) {
          const step = now.next.due - (before.next?.due ?? 0);
          assert.ok(step >= 0 && step <= 5, `${step} tokens fall due with one`);
          assert.ok(now.next.due <= length - now.next.start);
        }
        before = now;
      }
    }),
  );
});
