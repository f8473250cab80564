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

/** Whether a document is one that people write code in, and no secret. */
export function isCompletable(document: vscode.TextDocument): boolean {
  return whyNotCompletable(document) === undefined;
}

/**
 * In a few words for the user; undefined where there is nothing against it. Any writable file system counts, local or not,
 * so that nobody's scheme is forgotten; views such as a diff's old side or an output channel have none.
 */
export function whyNotCompletable(document: vscode.TextDocument): string | undefined {
  if (!isEdited(document.uri.scheme)) return 'it is not edited here';
  if (isSecretPath(pathInWorkspace(document))) return 'its name says that it holds secrets';
  if (lengthOf(document) > longestText) return 'it is too large';
  return undefined;
}

function isEdited(scheme: string): boolean {
  return schemesWithoutFiles.has(scheme) || vscode.workspace.fs.isWritableFileSystem(scheme) === true;
}

/** Below the innermost workspace folder, as the engine judges it. A cell has the path of its notebook. */
function pathInWorkspace(document: vscode.TextDocument): string {
  const notebook = vscode.workspace.notebookDocuments.find(({ uri }) => uri.path === document.uri.path);
  const isCell = document.uri.scheme === 'vscode-notebook-cell';
  return vscode.workspace.asRelativePath((isCell && notebook?.uri) || document.uri, false);
}

function lengthOf(document: vscode.TextDocument): number {
  return document.offsetAt(document.lineAt(document.lineCount - 1).range.end);
}
