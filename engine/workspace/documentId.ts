import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The name that the index has for a document: a file's path, or the URI of what is no file. */
export function documentId(uri: string): string {
  if (!uri.startsWith('file:')) return uri;
  try {
    return fileURLToPath(uri);
  } catch {
    return uri; // a file URI that this platform has no path for
  }
}

/**
 * The path of a document as people read it: no scheme, no fragment, nothing encoded.
 *
 * @param uri or the name that the index has for the document
 */
export function readablePath(uri: string): string {
  const id = documentId(uri);
  // A drive's letter is no scheme.
  const path = /^[a-z][a-z\d+.-]+:(?:\/\/[^/?#]*)?([^?#]*)/iu.exec(id)?.[1];
  return path === undefined ? id : decoded(path);
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path; // a % of its own
  }
}

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
