import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { TextDocument } from 'vscode-languageserver-textdocument';
import type { SlipstreamEngine } from '../engine.ts';
import { indentationOf } from '../text/indentationOf.ts';
import type { EvalTask } from './evalTask.ts';

/** What the engine made of a task. */
export interface CompletedTask {
  readonly task: EvalTask;
  /** Absent: nothing was suggested, for this reason. */
  readonly suggestion: Suggestion | { readonly emptyReason: string };
}

export interface Suggestion {
  readonly text: string;
  /** UTF-16 units after the cursor that the text replaces: closers that it writes again. */
  readonly covered: number;
}

/**
 * Completes a task as the editor would once the user pauses there: the document is open with the span missing, so
 * that neither prompt nor drafts come from the file as it is on disk, and what the workspace gives is awaited. Closed
 * afterwards, so that no task knows of another.
 */
export async function completeTask(
  engine: SlipstreamEngine,
  folder: string,
  task: EvalTask,
): Promise<CompletedTask> {
  const text = task.before + task.after;
  const uri = pathToFileURL(join(folder, task.path)).href;
  const document = TextDocument.create(uri, extname(task.path).slice(1), 1, text);
  const position = document.positionAt(task.before.length);
  const request = {
    document,
    position,
    indentation: indentationOf(text),
    openDocuments: [document],
    onText: () => {},
  } as const;
  engine.documentChanged(document);
  try {
    await engine.gatherContext(request);
    const { outcome } = await engine.completeInDetail(request, new AbortController().signal);
    if (outcome.kind === 'cancelled') throw new Error('nobody cancels');
    if (outcome.kind === 'empty') return { task, suggestion: { emptyReason: outcome.reason } };
    const covered = outcome.range.end.character - position.character;
    return { task, suggestion: { text: outcome.text, covered } };
  } finally {
    engine.documentClosed(uri);
    await engine.whenIndexed();
  }
}
