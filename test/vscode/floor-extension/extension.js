/** Suggests a text at once, another one at each place: what VS Code itself takes from key to ghost text. */
const vscode = require('vscode');

exports.activate = (context) => {
  const provider = {
    provideInlineCompletionItems: (_document, position) => [
      new vscode.InlineCompletionItem(
        `suggested at ${position.character}`,
        new vscode.Range(position, position),
      ),
    ],
  };
  context.subscriptions.push(
    vscode.languages.registerInlineCompletionItemProvider({ language: 'javascript' }, provider),
  );
};
