import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type BenchWorkspace, heldOutWorkspaces } from '../../../engine/bench/benchWorkspace.ts';
import { type BenchTask, sampleTasks } from '../../../engine/bench/tasks.ts';
import { seededRandom } from '../../../engine/seededRandom.ts';

const workspaces = await heldOutWorkspaces();
const sample = (workspace: BenchWorkspace) => sampleTasks(workspace, 4, seededRandom(1));

test('every held-out package has tasks of every class', () => {
  assert.equal(workspaces.length, 5);
  for (const workspace of workspaces) {
    const classes = sample(workspace).map(({ taskClass }) => taskClass);
    assert.deepEqual(
      classes.sort(),
      ['edit', 'novel', 'repeating'].flatMap((name) => Array(4).fill(name)),
      workspace.name,
    );
  }
});

test('a seed chooses the same tasks again, another seed others', () => {
  const [workspace] = workspaces;
  assert.deepEqual(sample(workspace), sample(workspace));
  assert.notDeepEqual(sample(workspace), sampleTasks(workspace, 4, seededRandom(2)));
});

test('a task without an edit is its document with a hole', () => {
  for (const { workspace, task, document } of cases()) {
    if (task.taskClass === 'edit') continue;
    assert.equal(task.before + task.truth + task.after, document.text, workspace.name);
  }
});

test('what repeats stands elsewhere, what is novel does not', () => {
  for (const { workspace, task } of cases()) {
    const rest = workspace.documents
      .map(({ path, text }) => (path === task.path ? `${task.before}\0${task.after}` : text))
      .join('\0');
    if (task.taskClass === 'repeating') assert.ok(rest.includes(task.truth.slice(0, 100)), task.truth);
    if (task.taskClass !== 'novel') continue;
    for (const line of task.truth.split('\n').map((one) => one.trim())) {
      if (line.length >= 12) assert.ok(!rest.split('\n').some((other) => other.trim() === line), line);
    }
  }
});

test('an edit has the new name above the cursor and in what follows, the old one below', () => {
  for (const { task } of cases()) {
    if (task.taskClass !== 'edit') continue;
    const [renamed] = task.truth.match(/\b\w+Value\b(?=[\s\S]*\b\w+Value\b)/) ?? [];
    assert.ok(renamed && task.before.includes(renamed), task.truth);
    assert.ok(task.after.includes(renamed.slice(0, -'Value'.length)));
  }
});

function* cases(): Generator<{ workspace: BenchWorkspace; task: BenchTask; document: { text: string } }> {
  for (const workspace of workspaces) {
    for (const task of sample(workspace)) {
      yield { workspace, task, document: workspace.documents.find(({ path }) => path === task.path)! };
    }
  }
}
