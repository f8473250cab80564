const NOT_A_FOLDER = 'it, or what is above it, is not a folder';
const NOT_ALLOWED = 'it may not be written to';
const FULL = 'the disk is full; make room on it';
const reasons: Readonly<Record<string, string>> = {
  ENOSPC: FULL,
  EDQUOT: FULL,
  EROFS: 'its file system is read-only',
  EACCES: NOT_ALLOWED,
  EPERM: NOT_ALLOWED,
  EEXIST: NOT_A_FOLDER,
  ENOTDIR: NOT_A_FOLDER,
  ENOENT: 'there is no such folder, and none can be made',
};

/** Why something could not be written, in words that say what to do. */
export function writeProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  const reason = reasons[code ?? ''] ?? message;
  return `${reason}${reason === FULL ? ', or' : ';'} choose another place`;
}
