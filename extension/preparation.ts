import * as vscode from 'vscode';
import { isCompletable } from './completableDocument.ts';
import type { EngineClient } from './engineClient.ts';
import { suggestionPlace } from './suggestionPlace.ts';

/** A cursor that moves on within this time is on its way; one that stays has mostly time left before the first key. */
const restMs = 150;

export interface PreparationContext {
  /** Undefined while there is no engine to ask. */
  readonly engine: () => EngineClient | undefined;
  readonly isEnabledFor: (languageId: string) => boolean;
}

/** Tells the engine where the cursor rests: a prompt evaluated by then is not waited for at the first key. */
export class Preparation implements vscode.Disposable {
  readonly #context: PreparationContext;
  readonly #subscriptions: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;

  constructor(context: PreparationContext) {
    this.#context = context;
    this.#subscriptions = vscode.Disposable.from(
      vscode.window.onDidChangeActiveTextEditor(() => this.soon()),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (textEditor === vscode.window.activeTextEditor) this.soon();
      }),
    );
  }

  /** Once the cursor has rested. After typing there is little left to do, and the engine finds that out. */
  soon(): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#prepare(), restMs);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscriptions.dispose();
  }

  #prepare(): void {
    const editor = vscode.window.activeTextEditor;
    if (!editor?.selection.isEmpty || !this.#mayBeAsked(editor.document)) return;
    const { document, selection } = editor;
    this.#context.engine()?.prepare(suggestionPlace(document, selection.active, undefined));
  }

  #mayBeAsked(document: vscode.TextDocument): boolean {
    return (
      this.#context.isEnabledFor(document.languageId) &&
      isCompletable(document) &&
      vscode.workspace.getConfiguration('editor', document).get('inlineSuggest.enabled') !== false
    );
  }
}
