import * as vscode from 'vscode';
import type { SuggestionPlace } from '../engine/protocol.ts';

/** A place in a document as the engine is told of it. */
export function suggestionPlace(
  document: vscode.TextDocument,
  position: vscode.Position,
  selected: vscode.SelectedCompletionInfo | undefined,
): SuggestionPlace {
  return {
    uri: document.uri.toString(),
    version: document.version,
    position: plain(position),
    indentation: indentationOf(document),
    ...(selected && {
      selectedSuggestion: {
        range: { start: plain(selected.range.start), end: plain(selected.range.end) },
        text: selected.text,
      },
    }),
  };
}

function plain({ line, character }: vscode.Position) {
  return { line, character };
}

function indentationOf(document: vscode.TextDocument) {
  const { insertSpaces, tabSize } =
    vscode.window.visibleTextEditors.find((editor) => editor.document === document)?.options ?? {};
  return {
    insertSpaces: insertSpaces !== false,
    tabSize: typeof tabSize === 'number' ? tabSize : 4,
  };
}
