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

export function isInside(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep);
}
