import * as vscode from 'vscode';

const scheme = 'slipstream-prompt';
const uri = vscode.Uri.from({ scheme, path: 'Slipstream: last prompt' });

/** Shows a prompt to be read: a document that nobody edits, saves or completes, and that is in no prompt itself. */
export class LastPromptView implements vscode.TextDocumentContentProvider, vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<vscode.Uri>();
  readonly onDidChange = this.#changed.event;
  readonly #registration = vscode.workspace.registerTextDocumentContentProvider(scheme, this);
  #prompt = '';

  async show(prompt: string): Promise<void> {
    this.#prompt = prompt;
    this.#changed.fire(uri);
    await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri), { preview: true });
  }

  provideTextDocumentContent(): string {
    return this.#prompt;
  }

  dispose(): void {
    this.#registration.dispose();
    this.#changed.dispose();
  }
}
