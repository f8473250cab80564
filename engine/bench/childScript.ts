import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { SlipstreamError } from '../errors.ts';

/**
 * Runs a script of the repository in a process of its own, so that its memory and threads disturb nothing else.
 *
 * @param path from the repository's root
 * @returns what it wrote to stdout
 * @throws SlipstreamError internal with what it wrote to stderr
 */
export async function runScript(path: string, args: readonly string[]): Promise<string> {
  const script = fileURLToPath(new URL(`../../${path}`, import.meta.url));
  try {
    const { stdout } = await promisify(execFile)(process.execPath, [...process.execArgv, script, ...args], {
      maxBuffer: 2 ** 26,
    });
    return stdout;
  } catch (cause) {
    const { stderr = '' } = cause as { stderr?: string };
    throw new SlipstreamError('internal', `${path} failed. ${stderr.trim()}`, { cause });
  }
}
