/** One line on stderr that is overwritten; nothing when nobody looks. An empty text takes it away. */
export function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${text}`);
}
