import { Worker } from 'node:worker_threads';
import type { WorkerStart } from './workerProtocol.ts';

/** Starts the index's worker thread: its bundle, or its source when this module runs as source. */
export function startWorker(workerData: WorkerStart): Worker {
  const options = { workerData, name: 'slipstream-index' };
  if (!import.meta.url.endsWith('.ts')) {
    return new Worker(new URL('./indexWorker.js', import.meta.url), options);
  }
  // A thread does not inherit the TypeScript loader of the process, so it registers its own first.
  const loader = JSON.stringify(import.meta.resolve('tsx/esm/api'));
  const entry = JSON.stringify(new URL('./indexWorker.ts', import.meta.url));
  const bootstrap = `import(${loader}).then(({ register }) => { register(); return import(${entry}); });`;
  return new Worker(bootstrap, { ...options, eval: true });
}
