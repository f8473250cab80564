import { sep } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A drive's letter is no scheme. */
const hasScheme = /^[a-z][a-z\d+.-]+:/iu;

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

/** Of paths, and of the URIs of what is no file. */
export function isInside(path: string, folder: string): boolean {
  const slash = hasScheme.test(folder) ? '/' : sep;
  return path === folder || path.startsWith(folder.endsWith(slash) ? folder : folder + slash);
}
