import { isInside } from './documentId.ts';

/** A folder whose files are indexed. */
export interface IndexedFolder {
  readonly path: string;
  /** Globs relative to it. */
  readonly exclude: readonly string[];
}

/** A folder's own part of the disk: all below it but the workspace folders inside it. */
export interface FolderScope extends IndexedFolder {
  readonly inner: readonly string[];
  /** Those around it. What one of them has saved may hold files that are not its own any more. */
  readonly outer: readonly IndexedFolder[];
}

/**
 * A file belongs to the innermost folder around it, whatever outer ones ignore: many hide in the root of a repository
 * the packages that are folders of their own.
 *
 * @returns outer folders before those inside them
 */
export function folderScopes(folders: readonly IndexedFolder[]): FolderScope[] {
  const outerFirst = [...new Map(folders.map((folder) => [folder.path, folder])).values()].sort(
    (a, b) => a.path.length - b.path.length,
  );
  return outerFirst.map((folder) => {
    const others = outerFirst.filter((other) => other !== folder);
    return {
      ...folder,
      inner: others.filter(({ path }) => isInside(path, folder.path)).map(({ path }) => path),
      outer: others.filter(({ path }) => isInside(folder.path, path)),
    };
  });
}

/** The innermost of the folders around a path. */
export function innermost<T extends IndexedFolder>(folders: readonly T[], path: string): T | undefined {
  return folders
    .filter((folder) => isInside(path, folder.path))
    .sort((a, b) => b.path.length - a.path.length)[0];
}
