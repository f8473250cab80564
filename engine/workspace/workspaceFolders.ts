import { relative, sep } from 'node:path';
import type { WorkspaceFolder } from '../protocol.ts';
import { documentId, isInside, readablePath } from './documentId.ts';
import type { IndexedFolder } from './folderScopes.ts';

/** The folders open in the editor. */
export class WorkspaceFolders {
  #folders: readonly WorkspaceFolder[] = [];

  set(folders: readonly WorkspaceFolder[]): void {
    this.#folders = folders;
  }

  /** Those with files on this machine's disk. */
  get indexed(): readonly IndexedFolder[] {
    return this.#folders
      .filter(({ uri }) => uri.startsWith('file:'))
      .map(({ uri, exclude }) => ({ path: documentId(uri), exclude }));
  }

  /** The innermost folder that a document lies in. */
  of(uri: string): WorkspaceFolder | undefined {
    const path = documentId(uri);
    return this.#folders
      .filter((folder) => isInside(path, documentId(folder.uri)))
      .sort((a, b) => b.uri.length - a.uri.length)[0];
  }

  /**
   * A document's path as people read it, with slashes; undefined outside of all folders.
   *
   * @param uri or the name that the index has for the document
   */
  relativePath(uri: string): string | undefined {
    const folder = this.of(uri);
    return folder && relative(readablePath(folder.uri), readablePath(uri)).replaceAll(sep, '/');
  }
}
