import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { waitFor } from './waitFor.ts';

/**
 * Presses Ctrl-C in a command of the built command line as soon as it has begun to fill its cache: it compiles models from
 * then on, which takes seconds, and has no result yet.
 *
 * @param args of the command, without --cache-dir
 */
export async function interruptedAtStart(args: readonly string[], cacheDir: string) {
  const child = spawn(process.execPath, ['dist/cli.js', ...args, '--cache-dir', cacheDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.resume();
  child.stderr.setEncoding('utf8');
  let stderr = '';
  child.stderr.on('data', (text) => (stderr += text));
  await waitFor('the cache', () => existsSync(cacheDir), 60_000);
  child.kill('SIGINT');
  const [code, signal] = await once(child, 'close');
  return { code, signal, stderr };
}
