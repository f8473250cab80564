import process from 'node:process';
import { endWithParent } from './parentWatch.ts';
import type { CreateEngine } from './servedEngine.ts';
import { Server } from './server.ts';
import { parentTransport } from './transport.ts';

/** What the exit code says to the extension's log. */
const exitCodes = { fault: 70, notForked: 64 } as const;

/** Serves the process that forked this one until it asks for the end or is gone. */
export async function runEngineProcess(createEngine: CreateEngine): Promise<void> {
  if (!process.send) {
    console.error('slipstream engine: to be started by the extension; on a command line use `slipstream`');
    process.exit(exitCodes.notForked);
  }
  process.on('uncaughtException', endWithFault);
  process.on('unhandledRejection', endWithFault);
  endWithParent();
  await new Server(parentTransport(), createEngine).listen();
  process.exit(0);
}

/** After an error that nobody handled nothing here can be trusted: the extension starts a fresh engine. */
function endWithFault(error: unknown): void {
  console.error('slipstream engine: unhandled', error);
  process.exit(exitCodes.fault);
}
