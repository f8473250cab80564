/** The embedded model on places of the sample files. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { Contender } from '../../../engine/benchmark/contender.ts';
import { findDifferences } from '../../../engine/benchmark/differences.ts';
import { readSample } from '../../../engine/benchmark/material.ts';
import { measure } from '../../../engine/benchmark/measure.ts';
import { summarizeTasks } from '../../../engine/benchmark/results.ts';
import { sampleTasks } from '../../../engine/benchmark/tasks/sampleTasks.ts';
import { TaskWorkspace } from '../../../engine/benchmark/taskWorkspace.ts';
import { embeddedModelDir } from '../../../engine/embeddedModel.ts';
import { ModelRuntime } from '../../../engine/modelRuntime.ts';
import type { Algorithm } from '../../../engine/protocol.ts';
import { seededRandom } from '../../../engine/seededRandom.ts';
import { openSpeculation } from '../../../engine/speculation/speculation.ts';
import { planSpeculation } from '../../../engine/speculation/speculationPlan.ts';
import { greedyVerifier } from '../../../engine/verify/greedy.ts';
import type { Verifier } from '../../../engine/verify/verifier.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const never = new AbortController().signal;
const runtime = await ModelRuntime.load(embeddedModelDir, {
  device: 'cpu',
  cacheDir: temporaryFolder(),
  threads: 1,
  log: () => {},
});
after(() => runtime.dispose());

const { documents } = await readSample(seededRandom(1), never);
const tasks = await sampleTasks(documents, 4, seededRandom(3), never);
const workspace = new TaskWorkspace(runtime.tokenizer, runtime.model.info.vocabSize);
for (const document of documents) workspace.add(document);

const cacheDir = temporaryFolder();

/** Four draft tokens a step, so that there are drafts on any machine. */
async function contender(algorithm: Algorithm, verifier: Verifier = greedyVerifier): Promise<Contender> {
  const settings = algorithm === 'none' ? { algorithm } : { algorithm, numDraftTokens: 4 };
  const parts = { target: runtime, workspace: workspace.ngrams, cacheDir, threads: 1, log: () => {} };
  const speculation = await openSpeculation(await planSpeculation(settings, embeddedModelDir), parts);
  return new Contender({
    runtime,
    algorithm,
    speculation,
    verifier,
    findSimilar: (near) => workspace.findSimilar(near),
    maxNewTokens: 24,
  });
}

const summarize = (contenders: readonly Contender[], measured: Awaited<ReturnType<typeof measure>>) =>
  summarizeTasks(
    contenders.map(({ algorithm, drafterBytes }) => ({
      algorithm,
      costTable: runtime.costTable,
      extraMemoryBytes: drafterBytes,
    })),
    measured,
    1,
  ).filter(({ task_class }) => task_class === 'all');

test('every algorithm completes every task from the keystroke before, and writes the same', async () => {
  const contenders = [await contender('none'), await contender('ngram')];
  let attempts = 0;
  const onAttempt = () => attempts++;
  const measured = await measure(contenders, tasks, { workspace, signal: never, onAttempt });
  assert.equal(attempts, 8);
  assert.deepEqual(
    measured.map(({ task }) => task),
    tasks,
  );
  for (const one of measured) {
    const { promptTokens, prefilledTokens } = one.attempts.get('none')!.metrics;
    assert.ok(prefilledTokens <= 8 && promptTokens > 100, `${prefilledTokens} of ${promptTokens}`);
  }
  // They took turns: another one began each time.
  assert.deepEqual(
    measured.slice(0, 2).map((one) => [...one.attempts.keys()]),
    [
      ['none', 'ngram'],
      ['ngram', 'none'],
    ],
  );
  const [none, ngram] = summarize(contenders, measured);
  assert.ok(none.lossless && ngram.lossless);
  assert.ok(ngram.num_draft_tokens > 0 && ngram.num_accepted_tokens > 0);
  assert.ok(ngram.extra_memory_bytes > 0 && none.extra_memory_bytes === 0);
  assert.deepEqual(findDifferences(measured, runtime.tokenizer, 'cpu'), []);
});

/** Takes whatever was drafted first. */
const gullible: Verifier = {
  want: 'argmax',
  verify: (tree, rows) =>
    tree.size === 0 ? greedyVerifier.verify(tree, rows) : { accepted: [0], bonus: rows.argmax[1] },
};

test('a verifier that takes what the target would not write is found out', async () => {
  const contenders = [await contender('none'), await contender('ngram', gullible)];
  const measured = await measure(contenders, tasks, { workspace, signal: never, onAttempt: () => {} });
  const [none, ngram] = summarize(contenders, measured);
  assert.ok(none.lossless && !ngram.lossless);
  const [difference] = findDifferences(measured, runtime.tokenizer, 'cpu');
  const { attempts } = measured[difference.task];
  const [plain, wrong] = [attempts.get('none')!.tokens, attempts.get('ngram')!.tokens];
  assert.deepEqual(wrong.slice(0, difference.position), plain.slice(0, difference.position));
  assert.notEqual(wrong[difference.position], plain[difference.position]);
  assert.match(difference.cause, /^ngram /);
});

test('steps are kept of the longest completion of each class alone', async () => {
  const contenders = [await contender('none')];
  const options = { workspace, signal: never, onAttempt: () => {} };
  const measured = await measure(contenders, [...tasks, ...tasks], options);
  const plain = measured.map(({ task, attempts }) => ({ ...task, ...attempts.get('none')! }));
  for (const [i, { taskClass, tokens, steps }] of plain.entries()) {
    const lengths = plain.map((other) => (other.taskClass === taskClass ? other.tokens.length : 0));
    const isFirstLongest = i === lengths.indexOf(Math.max(...lengths));
    assert.equal(steps.length > 0, isFirstLongest, `${i}: ${tokens.length} tokens, ${steps.length} steps`);
  }
});

test('cancelled, only tasks that every algorithm completed count', async () => {
  const abort = new AbortController();
  const tokensBefore = workspace.ngrams.tokenCount;
  let attempts = 0;
  const onAttempt = () => {
    if (++attempts === 3) abort.abort();
  };
  const contenders = [await contender('none'), await contender('ngram')];
  const measured = await measure(contenders, tasks, { workspace, signal: abort.signal, onAttempt });
  assert.equal(attempts, 3);
  assert.deepEqual(
    measured.map(({ task }) => task),
    tasks.slice(0, 1),
  );
  assert.equal(workspace.ngrams.tokenCount, tokensBefore, 'what was held out for the task under way is back');
});
