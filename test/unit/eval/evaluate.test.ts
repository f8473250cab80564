/** With the embedded model, on the sample workspace. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createEngine } from '../../../engine/engine.ts';
import { codeFiles, readCode } from '../../../engine/eval/codeFiles.ts';
import { completeTask } from '../../../engine/eval/completeTask.ts';
import { evalText } from '../../../engine/eval/evalText.ts';
import { type EvalJob, evaluate } from '../../../engine/eval/evaluate.ts';
import { openEngine } from '../../../engine/eval/openEngine.ts';
import { sampleTasks } from '../../../engine/eval/sampleTasks.ts';
import { seededRandom } from '../../../engine/seededRandom.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const folder = fileURLToPath(new URL('../../fixtures/sample-workspace', import.meta.url));
const settings = { algorithm: 'auto', device: 'cpu', maxTokens: 24 } as const;
const cacheDir = temporaryFolder();
const job: EvalJob = {
  folder,
  taskCount: 8,
  seed: 2,
  context: 'workspace',
  settings,
  cacheDir,
  log: () => {},
  onProgress: () => {},
};

test('the same seed gives the same report; what it sums up is in it', async () => {
  const steps: string[] = [];
  const { created, ...first } = await evaluate({ ...job, onProgress: ({ step }) => steps.push(step) });
  const { created: later, ...second } = await evaluate(job);
  assert.ok(Date.parse(created) <= Date.parse(later));
  assert.deepEqual(first, second);
  assert.deepEqual([...new Set(steps)], ['sampling', 'loading', 'completing']);
  const [all] = first.results;
  assert.equal(all.n, 8);
  assert.equal(first.tasks.length, 8);
  assert.equal(all.exact_match, first.tasks.filter((task) => task.exact_match).length / 8);
  assert.equal(all.shown, first.tasks.filter((task) => task.suggestion !== null).length / 8);
  assert.match(evalText({ created, ...first }), /^language .*\n.*all/);
});

test('context of the workspace can be left out, and that is the only difference', async () => {
  const [full, bare] = [await prompts('workspace'), await prompts('none')];
  const quotesFile = (prompt: string) => prompt.lastIndexOf('<|file_sep|>') > 0;
  assert.ok(full.some(quotesFile));
  assert.ok(!bare.some(quotesFile));
  for (const [i, prompt] of bare.entries()) assert.ok(full[i].endsWith(prompt), full[i]);
  for (const context of ['workspace', 'none'] as const) {
    assert.equal((await evaluate({ ...job, taskCount: 1, context })).context, context === 'workspace');
  }
});

/** What the model is given to complete, task by task. */
async function prompts(context: EvalJob['context']): Promise<string[]> {
  const tasks = await sampleTasks(folder, await codeFiles(folder), job.taskCount, seededRandom(job.seed));
  const engine = await openEngine({ ...job, context });
  const given: string[] = [];
  try {
    await engine.whenIndexed();
    for (const task of tasks) {
      await completeTask(engine, folder, task);
      given.push(engine.lastPrompt()!);
    }
  } finally {
    await engine.dispose();
  }
  return given;
}

test('a task does not see what is held back, nor the tasks before it', async () => {
  const files = await codeFiles(folder);
  const texts = await Promise.all(files.map((file) => readCode(folder, file)));
  const tasks = await sampleTasks(folder, files, 24, seededRandom(7));
  const standsOnce = (truth: string) => texts.join('\0').split(truth).length === 2;
  let held = 0;
  const engine = await createEngine({
    settings,
    cacheDir,
    workspaceFolders: [{ uri: pathToFileURL(folder).href, name: 'sample', exclude: [] }],
    log: () => {},
    onIndexProgress: () => {},
    onModelChanged: () => {},
  });
  try {
    await engine.whenIndexed();
    const alone = await completeTask(engine, folder, tasks[0]);
    for (const task of tasks) {
      await completeTask(engine, folder, task);
      if (!standsOnce(task.truth)) continue;
      held++;
      assert.ok(!engine.lastPrompt()!.includes(task.truth), task.truth);
    }
    assert.ok(held > 5, `${held}`);
    assert.deepEqual(await completeTask(engine, folder, tasks[0]), alone);
  } finally {
    await engine.dispose();
  }
});

test('a folder without code is a mistake of the caller', async () => {
  await assert.rejects(evaluate({ ...job, folder: temporaryFolder() }), {
    code: 'usage',
    message: /no code/,
  });
});
