/** VS Code in a browser with the packaged extension, a workspace and one person at it. */
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type CodeServer, settingsFile, startCodeServer } from './codeServer.ts';
import { Editor, type View } from './editor.ts';
import { packExtension } from './packExtension.ts';

export interface SessionOptions {
  /** Files of the workspace by name; over a copy of `workspace`, when given. */
  readonly files?: Readonly<Record<string, string>>;
  readonly workspace?: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly view?: View;
  /** VSIX files besides the extension's own. */
  readonly extensions?: readonly string[];
}

export class Session {
  readonly editor: Editor;
  readonly folder: string;
  readonly #dataDir: string;
  readonly #server: CodeServer;

  private constructor(editor: Editor, server: CodeServer, dataDir: string, folder: string) {
    this.editor = editor;
    this.#server = server;
    this.#dataDir = dataDir;
    this.folder = folder;
  }

  static async start({
    files,
    workspace,
    settings,
    view,
    extensions = [],
  }: SessionOptions): Promise<Session> {
    const dataDir = mkdtempSync(join(tmpdir(), 'slipstream-vscode-'));
    const folder = join(dataDir, 'workspace');
    mkdirSync(folder);
    if (workspace) cpSync(workspace, folder, { recursive: true });
    for (const [name, text] of Object.entries(files ?? {})) writeFileSync(join(folder, name), text);
    const vsix = await packExtension(join(dataDir, 'slipstream.vsix'));
    const server = await startCodeServer({
      dataDir,
      extensions: [vsix, ...extensions],
      ...(settings && { settings }),
    });
    try {
      const editor = await Editor.open(server.url(folder), view);
      return new Session(editor, server, dataDir, folder);
    } catch (error) {
      server.process.kill();
      throw error;
    }
  }

  read(file: string): string {
    return readFileSync(join(this.folder, file), 'utf8');
  }

  changeSettings(settings: Readonly<Record<string, unknown>>): void {
    const path = settingsFile(this.#dataDir);
    writeFileSync(path, JSON.stringify({ ...JSON.parse(readFileSync(path, 'utf8')), ...settings }));
  }

  /** What the extension logged so far. */
  log(): string {
    const logs = join(this.#dataDir, 'user', 'logs');
    return readdirSync(logs, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('Slipstream.log'))
      .map((name) => readFileSync(join(logs, name), 'utf8'))
      .join('');
  }

  /** The engine processes of this session (Linux). */
  engines(): number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter(
        (pid) =>
          pid > 0 &&
          commandLine(pid).some((arg) => arg.startsWith(this.#dataDir) && arg.endsWith('/dist/engine.js')),
      );
  }

  /** Kills the server, and so the extension host, as a crash of the machine's user session would. */
  killServer(): void {
    this.#server.process.kill('SIGKILL');
  }

  async end(): Promise<void> {
    await this.editor.close();
    this.#server.process.kill();
    await new Promise((resolve) => setTimeout(resolve, 500));
    rmSync(this.#dataDir, { recursive: true, force: true, maxRetries: 5 });
  }
}

function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
