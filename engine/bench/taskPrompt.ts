import { sessionPrompt } from '../completer.ts';
import type { SessionPrompt } from '../decode/session.ts';
import { promptBudget } from '../documentPrompts.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import { type EditPoint, editPointAt, writtenFrom } from '../text/editPoint.ts';
import { chooseFimFormat } from '../text/fimFormat.ts';
import { buildPrompt } from '../text/prompt.ts';
import { SnippetChooser } from '../text/snippets.ts';
import type { BenchTask } from './tasks.ts';

/** The prompt that an editor's request at this place would get with no other file open. */
export function taskPrompt(runtime: ModelRuntime, task: BenchTask, maxTokens: number): SessionPrompt {
  const { tokenizer } = runtime;
  const prompt = buildPrompt({
    tokenizer,
    format: chooseFimFormat(tokenizer),
    budget: promptBudget({ runtime, maxTokens }),
    point: editPoint(task),
    path: task.path,
    context: [],
    snippets: new SnippetChooser(),
  });
  return sessionPrompt(prompt, task.path);
}

/** The tokens of what really follows the prompt: the indentation left of the cursor is the model's to write. */
export function taskTruth({ tokenizer }: ModelRuntime, task: BenchTask, maxTokens: number): Int32Array {
  const text = task.before.slice(writtenFrom(editPoint(task))) + task.truth;
  return tokenizer.encode(text).subarray(0, maxTokens);
}

function editPoint({ before, after, line }: BenchTask): EditPoint {
  return editPointAt(before + after, before.length, line - 1);
}
