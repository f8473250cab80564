import * as vscode from 'vscode';
import type { Suggestion } from '../engine/protocol.ts';
import type { Edit, Place } from './suggestionCache.ts';

/** A place in a document, with what it takes to come back from its offsets to the document. */
export interface DocumentPlace extends Place {
  readonly position: vscode.Position;
  readonly selected: vscode.SelectedCompletionInfo | undefined;
}

export function placeOf(
  document: vscode.TextDocument,
  position: vscode.Position,
  selected: vscode.SelectedCompletionInfo | undefined,
): DocumentPlace {
  const text = document.getText();
  const uri = document.uri.toString();
  if (!selected) {
    const offset = document.offsetAt(position);
    return { uri, before: text.slice(0, offset), after: text.slice(offset), position, selected };
  }
  const { range } = selected;
  return {
    uri,
    before: text.slice(0, document.offsetAt(range.start)) + selected.text,
    after: text.slice(document.offsetAt(range.end)),
    position,
    selected,
  };
}

/** The same place after typing, by what has become of the document since. */
export function placeAfterTyping({ uri, after }: Place, document: vscode.TextDocument): Place {
  const text = document.getText();
  const cursor = Math.max(0, text.length - after.length);
  return { uri, before: text.slice(0, cursor), after: text.slice(cursor) };
}

/** @returns the engine's suggestion in offsets; undefined when it does not extend what the suggest widget selected */
export function toEdit(place: DocumentPlace, { text, range }: Suggestion): Edit | undefined {
  const { before, position, selected } = place;
  const end = before.length + range.end.character - (selected?.range.end ?? position).character;
  if (!selected) {
    return { start: before.length - (position.character - range.start.character), end, text };
  }
  const extendsIt =
    range.start.character === selected.range.start.character && text.startsWith(selected.text);
  // It may cover less than the widget would replace; the widget's own replacement stands then.
  return extendsIt
    ? { start: before.length, end: Math.max(end, before.length), text: text.slice(selected.text.length) }
    : undefined;
}

/** The text of an edit as the engine and VS Code have it: with what the suggest widget selected. */
export function textOf({ selected }: DocumentPlace, { text }: Edit): string {
  return (selected?.text ?? '') + text;
}

export function toItem(place: DocumentPlace, edit: Edit): vscode.InlineCompletionItem {
  const { before, position, selected } = place;
  const { start, end } = edit;
  const from = selected?.range.start ?? position.translate(0, start - before.length);
  const to = (selected?.range.end ?? position).translate(0, end - before.length);
  return new vscode.InlineCompletionItem(textOf(place, edit), new vscode.Range(from, to));
}
