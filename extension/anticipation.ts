import * as vscode from 'vscode';

/** After so many edits for which VS Code asked nothing, it does not ask: suggestions are snoozed or off. */
const patience = 50;

/**
 * Tells of each place that was typed to as soon as the cursor is there. VS Code waits 50 ms before it asks for a
 * suggestion, in case more is typed: an engine that is asked meanwhile has often answered by then.
 */
export class Anticipation implements vscode.Disposable {
  readonly #typedTo: (document: vscode.TextDocument, position: vscode.Position) => void;
  readonly #edited = new WeakSet<vscode.TextDocument>();
  readonly #subscriptions: vscode.Disposable;
  #unasked = 0;

  constructor(typedTo: (document: vscode.TextDocument, position: vscode.Position) => void) {
    this.#typedTo = typedTo;
    this.#subscriptions = vscode.Disposable.from(
      vscode.workspace.onDidChangeTextDocument((event) => this.#change(event)),
      // Where the cursor is after a change is known only with this event: brackets may have been closed behind it.
      vscode.window.onDidChangeTextEditorSelection((event) => this.#move(event)),
    );
  }

  /** VS Code has asked by itself, so that anticipating pays. */
  asked(): void {
    this.#unasked = 0;
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  #change({ document, reason, contentChanges }: vscode.TextDocumentChangeEvent): void {
    // For what is undone or redone VS Code does not ask.
    if (reason === undefined && contentChanges.length === 1) this.#edited.add(document);
  }

  #move({ textEditor, selections }: vscode.TextEditorSelectionChangeEvent): void {
    const { document } = textEditor;
    const isTyped = this.#edited.delete(document);
    const [{ active, isEmpty }] = selections;
    if (!isTyped || textEditor !== vscode.window.activeTextEditor) return;
    if (selections.length > 1 || !isEmpty || !isAutomatic(document) || this.#unasked >= patience) return;
    this.#unasked++;
    this.#typedTo(document, active);
  }
}

function isAutomatic(document: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration('editor', document).get<boolean>('inlineSuggest.enabled', true);
}
