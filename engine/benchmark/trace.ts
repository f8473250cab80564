import type { DecodeStep } from '../decode/decoder.ts';
import type { Tokenizer } from '../model/tokenizer.ts';
import { editPointAt, writtenFrom } from '../text/editPoint.ts';
import { type CompletionTrace, type TraceNode, type TraceStep, taskClasses } from './benchmarkReport.ts';
import type { MeasuredTask } from './measure.ts';
import { cursorOf, tokenFacts } from './reportText.ts';
import type { BenchmarkTask } from './tasks/task.ts';

const LINES_BEFORE = 12;

/**
 * The longest completion of each class, step by step, by every algorithm: the same text, so that one sees what each made
 * of it. (Of the others `measure` keeps no steps.)
 */
export function traceLongest(measured: readonly MeasuredTask[], tokenizer: Tokenizer): CompletionTrace[] {
  const length = ({ attempts }: MeasuredTask) => attempts.get('none')!.tokens.length;
  return taskClasses.flatMap((taskClass) => {
    const [longest] = measured
      .filter(({ task }) => task.taskClass === taskClass)
      .toSorted((a, b) => length(b) - length(a));
    return longest ? traceTask(longest, measured.indexOf(longest), tokenizer) : [];
  });
}

function traceTask({ task, attempts }: MeasuredTask, id: number, tokenizer: Tokenizer): CompletionTrace[] {
  const shared = { task: id, before: textBefore(task) };
  return [...attempts.values()].map(({ algorithm, steps }) => ({
    ...shared,
    algorithm,
    steps: traceSteps(steps, tokenizer),
  }));
}

/** The last lines of what the model went on from. */
function textBefore(task: BenchmarkTask): string {
  const { before, after } = task;
  const end = writtenFrom(editPointAt(before + after, before.length, cursorOf(task).line - 1));
  return before.slice(0, end).split('\n').slice(-LINES_BEFORE).join('\n');
}

export function traceSteps(steps: readonly DecodeStep[], tokenizer: Tokenizer): TraceStep[] {
  const decoder = tokenizer.createDecoder();
  return steps.map((step) => {
    const { tree, accepted, bonus, taken, draftMs, verifyMs } = step;
    const written = [...accepted.map((node) => tree.tokens[node]), bonus].slice(0, taken);
    return {
      drafted: Array.from({ length: tree.size }, (_, node) => traceNode(node, step, tokenizer)),
      bonus: taken > accepted.length ? tokenFacts(bonus, tokenizer) : null,
      text: written.map((token) => decoder.push(token)).join(''),
      draft_ms: draftMs,
      verify_ms: verifyMs,
    };
  });
}

function traceNode(node: number, { tree, accepted, taken }: DecodeStep, tokenizer: Tokenizer): TraceNode {
  const depth = accepted.indexOf(node);
  return {
    ...tokenFacts(tree.tokens[node], tokenizer),
    parent: tree.parents[node],
    source: tree.sources[node],
    probability: Math.exp(tree.logProbs[node]),
    outcome: depth < 0 ? 'rejected' : depth < taken ? 'accepted' : 'unused',
  };
}
