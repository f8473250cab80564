import { type ChildProcess, fork } from 'node:child_process';
import { IPCMessageReader, IPCMessageWriter } from 'vscode-jsonrpc/node';
import { EngineClient, type EngineListener } from './engineClient.ts';
import { engineEnvironment } from './engineEnvironment.ts';
import type { Runtime } from './engineLifecycle.ts';

/** How long the engine may take to end by itself before it is killed. */
const shutdownMs = 2000;

/** One engine process, from fork to exit. It ends with this process, whatever happens to either (parentWatch.ts). */
export class EngineProcess {
  readonly client: EngineClient;
  /** In words; never rejects. */
  readonly exit: Promise<string>;
  readonly #child: ChildProcess;

  constructor(path: string, runtime: Runtime, listener: EngineListener) {
    this.#child = fork(path, [], {
      ...(runtime === 'path' && { execPath: 'node' }),
      // Neither the debugger's nor the user's options for other Node programs are meant for the engine.
      execArgv: [],
      env: engineEnvironment(runtime),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    });
    this.exit = exitOf(this.#child);
    // They are not there where the system has no descriptors left: then nothing was started, and `exit` says so.
    const { stdout, stderr } = this.#child;
    if (stdout) passOn(stdout, (line) => listener.onLog('info', line));
    if (stderr) passOn(stderr, (line) => listener.onLog('warn', line));
    this.client = new EngineClient(
      new IPCMessageReader(this.#child),
      new IPCMessageWriter(this.#child),
      listener,
    );
    void this.exit.then(() => this.client.close());
  }

  get pid(): number | undefined {
    return this.#child.pid;
  }

  /** Asks the engine to end and sees to it that it does. */
  async end(): Promise<void> {
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), shutdownMs);
    await this.client.shutdown().catch(() => this.#child.kill('SIGKILL'));
    await this.exit;
    clearTimeout(timer);
  }

  kill(): void {
    this.#child.kill('SIGKILL');
  }
}

function exitOf(child: ChildProcess): Promise<string> {
  return new Promise((resolve) => {
    child.once('exit', (code, signal) => resolve(signal ? `signal ${signal}` : `exit code ${code}`));
    child.on('error', (error) => {
      // Not started at all; a message that could not be sent is no end.
      if (child.pid === undefined) resolve(error.message);
    });
  });
}

function passOn(stream: NodeJS.ReadableStream, onLine: (line: string) => void): void {
  stream.setEncoding('utf8');
  let unfinished = '';
  stream.on('data', (chunk: string) => {
    const lines = (unfinished + chunk).split(/\r?\n/);
    unfinished = lines.pop()!;
    for (const line of lines) onLine(line);
  });
  stream.on('end', () => {
    if (unfinished !== '') onLine(unfinished);
  });
}
