import assert from 'node:assert/strict';
import { test } from 'node:test';
import { taskClasses } from '../../../../engine/benchmark/benchmarkReport.ts';
import { readSample } from '../../../../engine/benchmark/material.ts';
import { sampleTasks } from '../../../../engine/benchmark/tasks/sampleTasks.ts';
import type { BenchmarkTask } from '../../../../engine/benchmark/tasks/task.ts';
import { seededRandom } from '../../../../engine/seededRandom.ts';

const never = new AbortController().signal;
const { documents } = await readSample(seededRandom(1), never);
const sample = (count: number, seed = 1) => sampleTasks(documents, count, seededRandom(seed), never);
const tasks = await sample(24);
const ofClass = (taskClass: BenchmarkTask['taskClass']) =>
  tasks.filter((task) => task.taskClass === taskClass);

test('the sample files have tasks of every class, in equal parts', () => {
  for (const taskClass of taskClasses) assert.equal(ofClass(taskClass).length, 6, taskClass);
});

test('a seed chooses the same tasks again and begins with the same ones, another seed others', async () => {
  assert.deepEqual(await sample(24), tasks);
  assert.deepEqual(await sample(8), tasks.slice(0, 8));
  assert.notDeepEqual(await sample(24, 2), tasks);
});

test('a task is its document with a hole, but for an edit', () => {
  for (const { taskClass, before, realText, after, document } of tasks) {
    assert.ok(realText.trim() !== '');
    if (taskClass !== 'repetitive_edit') assert.equal(before + realText + after, document.text);
  }
});

test('each class is what it says', () => {
  for (const { before, realText, after } of ofClass('end_of_line')) {
    assert.match(before, /\S[ \t]*$/);
    assert.ok(!realText.includes('\n') && after.startsWith('\n'));
  }
  for (const { before, after } of ofClass('block')) {
    assert.match(before, /\n[ \t]+$/);
    assert.match(after, /^\n/);
  }
  for (const { before, realText, after } of ofClass('mid_line')) {
    assert.ok(before.endsWith('(') && after.startsWith(')') && !realText.includes('\n'));
  }
  for (const { before, realText, after, document } of ofClass('repetitive_edit')) {
    const [renamed] = realText.match(/\b\w+Value\b(?=[\s\S]*\b\w+Value\b)/) ?? [];
    assert.ok(renamed && before.includes(renamed));
    assert.ok(after.includes(renamed.slice(0, -'Value'.length)));
    assert.ok(document.text.endsWith(after.trimStart()));
  }
});

test('a line is completed once, and not at the start of a file', () => {
  const lines = tasks.map(({ document, before }) => `${document.path}:${before.split('\n').length}`);
  assert.equal(new Set(lines).size, lines.length);
  for (const { before } of tasks) assert.ok(before.length >= 200);
});

test('what has few places gives the others its share; what has none gives nothing', async () => {
  const source = documents.filter(({ path }) => path.endsWith('http.ts'));
  const few = await sampleTasks(source, 1000, seededRandom(1), never);
  assert.ok(few.length > 4 && few.length < 100, `${few.length}`);
  const prose = documents.filter(({ path }) => !/\.(ts|js|py)$/.test(path));
  assert.ok(prose.length > 0);
  assert.deepEqual(await sampleTasks(prose, 10, seededRandom(1), never), []);
});

test('sampling ends when it is cancelled', async () => {
  await assert.rejects(sampleTasks(documents, 10, seededRandom(1), AbortSignal.abort()));
});
