import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type HumanEvalProblem,
  parseHumanEval,
  singleLineTasks,
  testProgram,
} from '../../../engine/eval/humanEval.ts';
import { passing } from '../../../engine/eval/pythonJudge.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const problem: HumanEvalProblem = {
  id: 'HumanEval/900',
  prompt: 'def double(x):\n    """ Twice x. """\n',
  solution: '    y = x\n\n    return y + x\n',
  test: 'def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(-1) == -2\n',
  entryPoint: 'double',
};

test('each line of a solution is held back once; a blank one is not', () => {
  const tasks = singleLineTasks(problem);
  assert.deepEqual(
    tasks.map(({ truth }) => truth),
    ['    y = x', '    return y + x'],
  );
  for (const { before, truth, after } of tasks)
    assert.equal(before + truth + after, problem.prompt + problem.solution);
});

test('a program passes when its tests do: not when it is wrong, leaves early, or never ends', async () => {
  const solution = (last: string) => testProgram(problem, `${problem.prompt}    y = x\n${last}\n`);
  const programs = [
    '    return y + x',
    '    return y * x',
    '    raise SystemExit(0)',
    '    while True: pass',
    '    return [0] * 10 ** 10',
    '    return (',
  ].map(solution);
  assert.deepEqual(await passing(programs, temporaryFolder()), [true, false, false, false, false, false]);
});

test('reads the published layout, and names the place where a file has another', () => {
  const { id, prompt, solution, test: tests, entryPoint } = problem;
  const line = { task_id: id, prompt, canonical_solution: solution, test: tests, entry_point: entryPoint };
  assert.deepEqual(parseHumanEval(`${JSON.stringify(line)}\n\n`, 'h.jsonl'), [problem]);
  const cut = `${JSON.stringify(line)}\n${JSON.stringify({ ...line, test: undefined })}\n`;
  assert.throws(() => parseHumanEval(cut, 'h.jsonl'), /h\.jsonl\[1\]\.test: expected a string/);
  assert.throws(() => parseHumanEval('PK\u0003\u0004', 'h.jsonl'), /h\.jsonl\[0\]: expected an object/);
});
