import { spawnSync } from 'node:child_process';

/** For the options of a test. */
export const withPipes = { skip: process.platform === 'win32' && 'there are no such pipes' };

/** A pipe that nobody writes into: who opens it waits for ever. */
export function makePipe(path: string): void {
  const { status, stderr } = spawnSync('mkfifo', [path]);
  if (status !== 0) throw new Error(`mkfifo: ${stderr}`);
}
