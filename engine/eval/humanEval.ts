import { array, object, string } from '../server/parse.ts';
import type { EvalTask } from './evalTask.ts';

/** A problem of HumanEval (Chen et al. 2021, arXiv 2107.03374): a Python function to write, and its tests. */
export interface HumanEvalProblem {
  readonly id: string;
  /** Up to the function's body. */
  readonly prompt: string;
  /** The body. */
  readonly solution: string;
  /** Defines `check(candidate)`, which raises where a candidate is wrong. */
  readonly test: string;
  readonly entryPoint: string;
}

interface Line {
  readonly task_id: string;
  readonly prompt: string;
  readonly canonical_solution: string;
  readonly test: string;
  readonly entry_point: string;
}

const parseLines = array(
  object<Line>({
    task_id: string,
    prompt: string,
    canonical_solution: string,
    test: string,
    entry_point: string,
  }),
);

/**
 * Reads HumanEval.jsonl.
 * @throws SlipstreamError `usage` that names the place when the file is something else
 */
export function parseHumanEval(text: string, file: string): HumanEvalProblem[] {
  const lines = text.split('\n').filter((line) => line.trim() !== '');
  return parseLines(lines.map(parseJson), file).map((line) => ({
    id: line.task_id,
    prompt: line.prompt,
    solution: line.canonical_solution,
    test: line.test,
    entryPoint: line.entry_point,
  }));
}

/** What is no JSON is left as it is: the parser of the fields says where it stands. */
function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

/** One task for each line of the solution with something on it (single-line infilling; Bavarian et al. 2022, section 4.1). */
export function singleLineTasks({ id, prompt, solution }: HumanEvalProblem): EvalTask[] {
  const lines = solution.split('\n');
  return lines.flatMap((truth, i) => {
    if (truth.trim() === '') return [];
    const before = prompt + lines.slice(0, i).map(ended).join('');
    const after = lines
      .slice(i + 1)
      .map(begun)
      .join('');
    return [{ path: `${id.replace('/', '_')}.py`, language: 'python', kind: 'line', before, truth, after }];
  });
}

const ended = (line: string) => `${line}\n`;
const begun = (line: string) => `\n${line}`;

/** A program that ends well only when a document with the function passes the problem's tests. */
export function testProgram({ test, entryPoint }: HumanEvalProblem, document: string): string {
  return `${document}\n${test}\ncheck(${entryPoint})\n`;
}
