import { openRegular } from '../regularFile.ts';
import type { FileStamp } from './folderScan.ts';

/** Larger files are data or generated, and would hold up everything behind them. */
export const MAX_FILE_BYTES = 256 * 1024;

/** git looks for a zero byte in as much to tell binary from text. */
const BINARY_PROBE_BYTES = 8000;

/** Longer on average: minified code or data in one line. */
const MAX_MEAN_LINE = 400;

export type TextFile =
  | (FileStamp & { readonly text: string })
  | (FileStamp & { readonly skipped: 'too large' | 'binary' | 'minified' });

/** @throws SlipstreamError io when it is no file; the file system's error when it cannot be read */
export async function readTextFile(path: string): Promise<TextFile> {
  const file = await openRegular(path);
  try {
    const { size, mtimeMs } = await file.stat();
    if (size > MAX_FILE_BYTES) return { size, mtimeMs, skipped: 'too large' };
    const text = decode(await file.readFile());
    if (text === undefined) return { size, mtimeMs, skipped: 'binary' };
    if (isMinified(text)) return { size, mtimeMs, skipped: 'minified' };
    return { size, mtimeMs, text };
  } finally {
    await file.close();
  }
}

export function isMinified(text: string): boolean {
  let lines = 1;
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) lines++;
  return text.length > 2 * MAX_MEAN_LINE && text.length / lines > MAX_MEAN_LINE;
}

function decode(bytes: Buffer): string | undefined {
  try {
    if (bytes[0] === 0xff && bytes[1] === 0xfe)
      return new TextDecoder('utf-16le', { fatal: true }).decode(bytes);
    if (bytes.subarray(0, BINARY_PROBE_BYTES).includes(0)) return undefined;
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
