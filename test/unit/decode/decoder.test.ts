/** What the loop tells those around it. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { fixedController, type StepOutcome } from '../../../engine/decode/controller.ts';
import { type DecodeRequest, decode } from '../../../engine/decode/decoder.ts';
import { Session } from '../../../engine/decode/session.ts';
import type { Drafter, Verdict } from '../../../engine/draft/drafter.ts';
import { catchingUp, type Proposal } from '../../../engine/draft/proposal.ts';
import { emptyTree, ROOT, type TokenTree } from '../../../engine/tree/tokenTree.ts';
import { TokenTreeBuilder } from '../../../engine/tree/tokenTreeBuilder.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import type { Verifier } from '../../../engine/verify/verifier.ts';
import { CpuModels } from '../../cpuModels.ts';
import { tinyShape, writeRandomCheckpoint } from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const models = new CpuModels();
const dir = writeRandomCheckpoint(join(temporaryFolder(), 'tiny'), tinyShape, 1);
const model = await models.open(dir, { precision: 'int8' });
const prompt = Int32Array.of(5, 6, 7);

function request(overrides: Partial<DecodeRequest> = {}): DecodeRequest {
  return {
    prompt: { tokens: prompt, prefix: { start: 0, end: prompt.length }, suffix: { start: 0, end: 0 } },
    maxNewTokens: 12,
    endTokens: new Set(),
    onToken: () => 'continue',
    signal: new AbortController().signal,
    ...overrides,
  };
}

/** Asks for as much as `fixedController` does, and keeps what it is told. */
function recordingController(steps: StepOutcome[]) {
  return { ...fixedController(4), observe: (step: StepOutcome) => void steps.push(step) };
}

async function plainText(): Promise<readonly number[]> {
  const session = new Session(model.createKvCache(1), model.info);
  const strategy = { controller: fixedController(0), verifier: greedyVerifier };
  const { tokens } = await decode(session, strategy, request());
  session.dispose();
  return tokens;
}

function chainOf(tokens: readonly number[]): TokenTree {
  const builder = new TokenTreeBuilder();
  let parent = ROOT;
  for (const token of tokens) parent = builder.add(parent, token, -0.1, 'workspace');
  return builder.build(tokens.length);
}

/** Proposes one after another, and keeps what becomes of them. */
function drafterOf(proposals: readonly Proposal[], verdicts: Verdict[] = []): Drafter {
  let asked = 0;
  return {
    name: 'scripted',
    bytes: 0,
    propose: () => proposals[asked++] ?? emptyTree,
    observe: (verdict) => void verdicts.push(verdict),
    dispose() {},
  };
}

test('the controller is told what the drafter did, and what is drafted meanwhile is verified', async () => {
  const text = await plainText();
  const proposals = [catchingUp, { meanwhile: chainOf([text[1]]) }, chainOf([text[3]]), emptyTree];
  const steps: StepOutcome[] = [];
  const session = new Session(model.createKvCache(1), model.info);
  const drafter = drafterOf(proposals);
  const strategy = { drafter, controller: recordingController(steps), verifier: greedyVerifier };
  const { tokens } = await decode(session, strategy, request());
  session.dispose();
  assert.deepEqual(tokens, text);
  assert.deepEqual(steps.map(({ drafting, accepted }) => [drafting, accepted]).slice(0, 4), [
    ['catchingUp', 0],
    ['catchingUp', 1],
    ['drafted', 1],
    ['drafted', 0],
  ]);
  assert.equal(steps.at(-1)!.drafting, 'notAsked', 'there is room for the bonus alone');
});

test('a drafter is told whether it was asked', async () => {
  const verdicts: Verdict[] = [];
  const session = new Session(model.createKvCache(1), model.info);
  const drafter = drafterOf([catchingUp], verdicts);
  const strategy = { drafter, controller: fixedController(4), verifier: greedyVerifier };
  await decode(session, strategy, request({ maxNewTokens: 3 }));
  session.dispose();
  assert.deepEqual(
    verdicts.map(({ drafting }) => drafting),
    ['catchingUp', 'drafted', 'notAsked'],
  );
});

test('a drafter is told how much of what was accepted belongs to the text', async () => {
  const text = await plainText();
  const verdicts: Verdict[] = [];
  const drafter = drafterOf([chainOf(text.slice(0, 4)), chainOf(text.slice(5, 9))], verdicts);
  const session = new Session(model.createKvCache(1), model.info);
  let written = 0;
  const onToken = () => (++written < 7 ? 'continue' : 'stop');
  const strategy = { drafter, controller: fixedController(4), verifier: greedyVerifier };
  const { tokens, metrics } = await decode(session, strategy, request({ onToken }));
  session.dispose();
  assert.deepEqual(tokens, text.slice(0, 7));
  assert.deepEqual(
    verdicts.map(({ accepted, taken }) => [accepted.length, taken]),
    [
      [4, 5],
      [4, 2],
    ],
  );
  assert.deepEqual(metrics.numAcceptedTokensPerSource, { workspace: 6 });
});

test('what drawing takes is time of the step, but not of the pass', async (t) => {
  let clockMs = 0;
  t.mock.method(performance, 'now', () => clockMs);
  const slow: Verifier = {
    want: 'argmax',
    verify: (...asked) => {
      clockMs += 1000;
      return greedyVerifier.verify(...asked);
    },
  };
  const steps: StepOutcome[] = [];
  const session = new Session(model.createKvCache(1), model.info);
  const strategy = { controller: recordingController(steps), verifier: slow };
  const { metrics } = await decode(session, strategy, request());
  session.dispose();
  assert.equal(metrics.verifyMs, 1000 * steps.length);
  assert.ok(steps.length > 0 && steps.every(({ passMs }) => passMs === 0));
});
