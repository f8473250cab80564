import process from 'node:process';
import {
  IPCMessageReader,
  IPCMessageWriter,
  type MessageReader,
  type MessageWriter,
} from 'vscode-jsonrpc/node';

export interface Transport {
  readonly reader: MessageReader;
  readonly writer: MessageWriter;
}

/**
 * The one place that knows what the protocol travels over: Node's IPC channel to the process that forked us.
 * Not stdio, because anything may print there: a native library writing one line to stdout would break the
 * protocol. A local socket shared by several windows would be a second function beside this one.
 *
 * @throws Error when the process was not forked
 */
export function parentTransport(): Transport {
  return { reader: new IPCMessageReader(process), writer: new IPCMessageWriter(process) };
}
