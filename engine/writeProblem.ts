/** Why something could not be written, in words that say what to do. */
export function writeProblem(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full; make room on it, or choose another place';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'it may not be written to; choose another place';
    case 'ENOENT':
    case 'ENOTDIR':
      return 'there is no such folder; choose another place';
    default:
      return `${message}; choose another place`;
  }
}
