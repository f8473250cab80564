import type { TextDocument } from 'vscode-languageserver-textdocument';

/**
 * The text of the cells before and after one of a notebook, a blank line between two; empty where there are none. Cells
 * in another language are left out: prose between them is no code.
 */
export function cellsAround(cell: TextDocument, notebook: readonly TextDocument[]) {
  const cells = notebook.filter(({ languageId }) => languageId === cell.languageId);
  const index = cells.indexOf(cell);
  const join = (some: readonly TextDocument[]) => some.map((other) => other.getText()).join('\n\n');
  const before = join(cells.slice(0, index));
  const after = join(cells.slice(index + 1));
  return { before: before && `${before}\n\n`, after: after && `\n\n${after}` };
}
