import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { groupedMeanEstimate } from '../benchmark/statistics.ts';
import { usageError } from '../cli/commandLine.ts';
import { readTextFile } from '../cli/files.ts';
import type { SlipstreamEngine } from '../engine.ts';
import { completeTask } from '../eval/completeTask.ts';
import type { EvalTask } from '../eval/evalTask.ts';
import { type HumanEvalProblem, parseHumanEval, singleLineTasks, testProgram } from '../eval/humanEval.ts';
import { openEngine } from '../eval/openEngine.ts';
import { passing } from '../eval/pythonJudge.ts';
import { seededRandom } from '../seededRandom.ts';
import type { BenchContext } from './context.ts';
import type { Section } from './report.ts';

interface Infilling {
  readonly problem: HumanEvalProblem;
  readonly task: EvalTask;
}

interface Infilled extends Infilling {
  /** Empty: nothing was suggested. */
  readonly line: string;
}

/**
 * HumanEval-Infilling, single line: each line of each solution is held back, completed by the same path as in the
 * editor, and the function's own tests are run on the result. Of a longer suggestion the first line counts.
 */
export async function measureHumanEval(context: BenchContext): Promise<Section> {
  const problems = await readProblems(context);
  const folder = await mkdtemp(join(tmpdir(), 'slipstream-humaneval-'));
  try {
    const own = problems.map((problem) => testProgram(problem, problem.prompt + problem.solution));
    const ownPass = await passing(own, folder);
    const infilled = await infill(problems, folder, context);
    context.progress('humaneval: running the tests');
    const passed = await passing(infilled.map(program), folder);
    return section(problems, ownPass, infilled, passed, context);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function readProblems({ humanEvalFile }: BenchContext): Promise<HumanEvalProblem[]> {
  if (humanEvalFile === undefined) {
    throw usageError(
      "humaneval needs --human-eval FILE: data/HumanEval.jsonl of OpenAI's human-eval, unpacked",
    );
  }
  const problems = parseHumanEval(await readTextFile(humanEvalFile), humanEvalFile);
  if (problems.length === 0) throw usageError(`${humanEvalFile}: holds no problem`);
  return problems;
}

async function infill(
  problems: readonly HumanEvalProblem[],
  folder: string,
  { modelDir, cacheDir, progress }: BenchContext,
): Promise<Infilled[]> {
  const infillings = problems.flatMap((problem) =>
    singleLineTasks(problem).map((task): Infilling => ({ problem, task })),
  );
  const engine = await openEngine({
    folder,
    context: 'none',
    settings: { algorithm: 'auto', device: 'cpu', maxTokens: 128, model: modelDir },
    cacheDir,
    log: () => {},
  });
  try {
    const infilled: Infilled[] = [];
    for (const infilling of infillings) {
      progress(`humaneval: ${infilled.length + 1} of ${infillings.length}`);
      infilled.push({ ...infilling, line: await firstLine(engine, folder, infilling.task) });
    }
    return infilled;
  } finally {
    await engine.dispose();
  }
}

async function firstLine(engine: SlipstreamEngine, folder: string, task: EvalTask): Promise<string> {
  const { suggestion } = await completeTask(engine, folder, task);
  return 'text' in suggestion ? suggestion.text.split('\n', 1)[0] : '';
}

const program = ({ problem, task, line }: Infilled) => testProgram(problem, task.before + line + task.after);

function section(
  problems: readonly HumanEvalProblem[],
  ownPass: readonly boolean[],
  infilled: readonly Infilled[],
  passed: readonly boolean[],
  { seed }: BenchContext,
): Section {
  const share = (holds: readonly boolean[]) => {
    const { value, low, high } = groupedMeanEstimate(byProblem(infilled, holds), seededRandom(seed));
    return { value: 100 * value, low: 100 * low, high: 100 * high };
  };
  const isExact = infilled.map(({ line, task }) => line.trimEnd() === task.truth.trimEnd());
  const own = {
    name: 'the solutions as written',
    measured: (100 * ownPass.filter(Boolean).length) / ownPass.length,
  };
  return {
    title: `HumanEval-Infilling, single line: ${infilled.length} lines of ${problems.length} problems`,
    figures: [
      { name: 'pass@1, greedy', unit: '%', measured: share(passed), baseline: own },
      { name: 'exact match', unit: '%', measured: share(isExact) },
    ],
    notes: ['Of a suggestion the first line counts. Does not depend on how busy the machine is.'],
    faults: problems
      .filter((_, i) => !ownPass[i])
      .map(
        ({ id }) =>
          `${id}: its own solution fails its tests; the file is damaged, or this Python cannot run it`,
      ),
    details: infilled.map(({ problem, task, line }, i) => ({
      id: problem.id,
      real_text: task.truth,
      suggestion: line,
      passes: passed[i],
    })),
  };
}

/** Lines of one problem share its prompt and its tests. */
function byProblem(infilled: readonly Infilled[], holds: readonly boolean[]): number[][] {
  const groups = new Map<HumanEvalProblem, number[]>();
  for (const [i, { problem }] of infilled.entries()) {
    const group = groups.get(problem) ?? [];
    group.push(Number(holds[i]));
    groups.set(problem, group);
  }
  return [...groups.values()];
}
