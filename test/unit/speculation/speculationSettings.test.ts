import assert from 'node:assert/strict';
import { test } from 'node:test';
import { algorithms, type SpeculationSettings } from '../../../engine/protocol.ts';
import { speculationProblem } from '../../../engine/speculation/speculationSettings.ts';

const possible: readonly SpeculationSettings[] = [
  ...algorithms.map((algorithm) => ({ algorithm })),
  { algorithm: 'ngram', numDraftTokens: 8 },
  { algorithm: 'eagle3', numSteps: 5, eagleTopk: 4, numDraftTokens: 8 },
  // As SGLang makes it of a chain: the token before the drafts counts.
  { algorithm: 'eagle3', numSteps: 3, eagleTopk: 1, numDraftTokens: 4 },
  { algorithm: 'eagle', numSteps: 3 },
  { algorithm: 'medusa', numSteps: 2, draftModel: '/heads/medusa' },
  { algorithm: 'medusa', medusaTree: 'mc_sim_7b_63', numSteps: 2, numDraftTokens: 8 },
  { algorithm: 'standalone', draftModel: '/models/small' },
];

const impossible: readonly (readonly [SpeculationSettings, RegExp])[] = [
  [{ algorithm: 'none', numDraftTokens: 4 }, /NONE drafts nothing/],
  [{ algorithm: 'ngram', numDraftTokens: 65 }, /65 draft tokens.*at most 64/],
  [{ algorithm: 'eagle3', numSteps: 17 }, /17 steps.*at most 16/],
  [{ algorithm: 'eagle3', eagleTopk: 2048 }, /top-k of 2048.*at most 16/],
  [{ algorithm: 'ngram', numSteps: 4 }, /NGRAM drafts without steps/],
  [{ algorithm: 'recycle', eagleTopk: 4 }, /RECYCLE drafts without steps/],
  [{ algorithm: 'nextn', draftModel: '/heads/eagle3' }, /NEXTN has no draft model/],
  [{ algorithm: 'eagle', eagleTopk: 4 }, /fixed shape.*EAGLE2/],
  [{ algorithm: 'auto', medusaTree: 'vicuna_7b_stage2' }, /AUTO drafts no Medusa tree.*MEDUSA/],
  [{ algorithm: 'medusa', medusaTree: 'mc_sim_7b_63', eagleTopk: 4 }, /fixed shape.*top-k/],
  [
    { algorithm: 'eagle3', numSteps: 3, eagleTopk: 1, numDraftTokens: 8 },
    /cannot hold 8 draft tokens: at most 3/,
  ],
  [
    { algorithm: 'eagle2', numSteps: 2, eagleTopk: 2, numDraftTokens: 8 },
    /cannot hold 8 draft tokens: at most 6/,
  ],
];

test('what goes together is let pass', () => {
  for (const settings of possible) assert.equal(speculationProblem(settings), undefined);
});

test('what does not go together is refused with the reason', () => {
  for (const [settings, reason] of impossible) assert.match(speculationProblem(settings) ?? '', reason);
});
