import process from 'node:process';
import { Worker } from 'node:worker_threads';

const pollMs = 2000;

/**
 * Ends this process, whatever it is doing, when the process that forked it is gone. The closed channel tells
 * at once, but only while the event loop turns; a long native call or a stuck driver is seen through by a
 * thread of its own. The end is a kill: no destructor of a native library gets a chance to hang, and a killed
 * engine loses nothing (architecture, invariant 4).
 */
export function endWithParent(): void {
  process.once('disconnect', killSelf);
  const watch = new Worker(`(${watchParent})(${process.ppid}, ${pollMs})`, { eval: true });
  watch.unref();
}

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Runs in the other thread, from its source text: it must not refer to anything of this file, imports included. */
function watchParent(parentPid: number, intervalMs: number): void {
  const { process } = globalThis;
  setInterval(() => {
    try {
      // An orphan gets another parent on Unix; on Windows the parent's id is no longer valid.
      if (process.ppid === parentPid && process.kill(parentPid, 0)) return;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EPERM') return;
    }
    process.kill(process.pid, 'SIGKILL');
  }, intervalMs);
}
