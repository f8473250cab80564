import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type EntrantName, type EntrantText, NEW_TOKENS } from '../../../engine/bench/peerEntrants.ts';
import { type PeerComparison, peerFaults, peerFigures } from '../../../engine/bench/peerFigures.ts';
import type { TaskClass } from '../../../engine/bench/tasks.ts';

const tokens = Array.from({ length: NEW_TOKENS }, (_, i) => i);
const partingAt = (position: number) => tokens.map((token, i) => (i < position ? token : -1));

function text(decodeMs: number, own: Partial<EntrantText> = {}): EntrantText {
  return { tokens, decodeMs, numDraftTokens: 0, numAcceptedTokens: 0, ...own };
}

function comparison(taskClass: TaskClass, texts: Partial<Record<EntrantName, EntrantText>>): PeerComparison {
  const task = { workspace: 'w', path: 'a.js', line: 7, taskClass, before: '', after: '', truth: '' };
  return { task, texts: new Map(Object.entries(texts) as [EntrantName, EntrantText][]) };
}

const comparisons = [
  comparison('edit', {
    'node-llama-cpp lookup': text(50, { numDraftTokens: 8, numAcceptedTokens: 6 }),
    'node-llama-cpp plain': text(100),
    'slipstream none': text(200, { tokens: partingAt(10) }),
  }),
  comparison('novel', {
    'node-llama-cpp lookup': text(150),
    'node-llama-cpp plain': text(300),
    'slipstream none': text(200, { tokens: partingAt(21) }),
  }),
];

test('each is measured over the plain decoding of the peer, over all tasks and over those of a class', () => {
  const values = peerFigures(comparisons, 1).map(({ name, measured }) => [
    name.trim(),
    typeof measured === 'number' ? measured : measured.value,
  ]);
  assert.deepEqual(values, [
    ['SLIPSTREAM NONE', 1],
    ['edit', 0.5],
    ['novel', 1.5],
    ['NODE-LLAMA-CPP LOOKUP', 2],
    ['edit', 2],
    ['novel', 2],
  ]);
});

test('a remark has the speed, what was accepted, and how many tokens are equal', () => {
  const remarks = peerFigures(comparisons, 1).map(({ remark }) => remark);
  assert.equal(remarks[0], '320 against 320 tokens/s, nothing drafted, the first 15.5 tokens are equal');
  assert.equal(
    remarks[3],
    '640 against 320 tokens/s, accepted 75% of 8 drafted, the first 64.0 tokens are equal',
  );
});

test('a text of ours that drafting changed is wrong, and so is any of another length', () => {
  const short = tokens.slice(1);
  const faults = peerFaults([
    comparison('edit', {
      'slipstream none': text(1),
      'slipstream auto': text(1, { tokens: partingAt(63) }),
      'node-llama-cpp plain': text(1, { tokens: partingAt(3) }),
      'node-llama-cpp lookup': text(1, { tokens: short }),
    }),
  ]);
  assert.deepEqual(faults, [
    'slipstream auto wrote something else than slipstream none at w/a.js:7.',
    'node-llama-cpp lookup wrote 63 tokens at w/a.js:7.',
  ]);
  assert.deepEqual(peerFaults(comparisons), []);
});
