import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { SlipstreamError } from '../errors.ts';

/** As OpenAI's harness has it. */
const MOST_MS = 3000;
const MOST_BYTES = 2 ** 30;

/**
 * Runs Python programs, as many at once as there are cores: which of them end without an error in time. Each is a
 * process of its own, isolated from the user's settings, with 3 seconds and 1 GiB; that is no sandbox.
 *
 * @throws SlipstreamError `usage` when there is no Python
 */
export async function passing(programs: readonly string[], folder: string): Promise<boolean[]> {
  const passed: boolean[] = [];
  const queue = programs.entries();
  const work = async () => {
    for (const [i, program] of queue) passed[i] = await endsWell(program, folder);
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return passed;
}

/** Says a word at its end that it cannot know before: a program that leaves early has passed no test. */
async function endsWell(program: string, folder: string): Promise<boolean> {
  const word = randomUUID();
  const child = promisify(execFile)('python3', ['-I', '-B', '-'], {
    cwd: folder,
    timeout: MOST_MS,
    killSignal: 'SIGKILL',
  });
  child.child.stdin!.on('error', () => {}); // it may end before it has read everything
  child.child.stdin!.end(`${limits}${program}\nprint(${JSON.stringify(word)})\n`);
  try {
    return (await child).stdout.trimEnd().endsWith(word);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT')
      throw new SlipstreamError('usage', 'python3 was not found: the tests need it', { cause: error });
    return false;
  }
}

/** Windows has no such limits. */
const limits = `
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (${MOST_BYTES}, ${MOST_BYTES}))
except ImportError:
    pass
`;
