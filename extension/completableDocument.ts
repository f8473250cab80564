import * as vscode from 'vscode';
import { isSecretPath } from '../engine/protocol.ts';

/** UTF-16 units. Above, each key would cost milliseconds of copying, and no such file is written by hand. */
const longestText = 4_000_000;

/** Edited though no file system stands behind it. */
const schemesWithoutFiles: ReadonlySet<string> = new Set([
  'untitled',
  'vscode-notebook-cell',
  'vscode-interactive-input',
]);

/**
 * Whether a document is one that people write code in, and no secret. Any writable file system counts, local or
 * not, so that nobody's scheme is forgotten; views such as a diff's old side or an output channel have none.
 */
export function isCompletable(document: vscode.TextDocument): boolean {
  const { uri } = document;
  return (
    isEdited(uri.scheme) &&
    !isSecretPath(vscode.workspace.asRelativePath(uri)) &&
    lengthOf(document) <= longestText
  );
}

function isEdited(scheme: string): boolean {
  return schemesWithoutFiles.has(scheme) || vscode.workspace.fs.isWritableFileSystem(scheme) === true;
}

function lengthOf(document: vscode.TextDocument): number {
  return document.offsetAt(document.lineAt(document.lineCount - 1).range.end);
}
