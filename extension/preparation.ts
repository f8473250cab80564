import * as vscode from 'vscode';
import type { EngineClient } from './engineClient.ts';
import { suggestionPlace } from './suggestionPlace.ts';

/** A cursor that moves on within this time is on its way; one that stays has mostly time left before the first key. */
const restMs = 150;

export interface PreparationContext {
  /** Undefined while there is no engine to ask. */
  readonly engine: () => EngineClient | undefined;
  readonly maySuggestIn: (document: vscode.TextDocument) => boolean;
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
    if (!editor?.selection.isEmpty) return;
    const { document, selection } = editor;
    if (!this.#context.maySuggestIn(document) || !showsSuggestions(document)) return;
    this.#context.engine()?.prepare(suggestionPlace(document, selection.active, undefined));
  }
}

function showsSuggestions(document: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration('editor', document).get('inlineSuggest.enabled') !== false;
}
