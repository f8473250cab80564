import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { waitFor } from '../waitFor.ts';
import type { Editor, View } from './editor.ts';
import { packExtension, packTestExtension } from './packExtension.ts';
import type { StartVsCode, UserOptions, VsCode } from './vsCode.ts';

export interface SessionOptions extends Pick<UserOptions, 'settings' | 'logLevel'> {
  /** The workspace's files by name; over a copy of `workspace`, when given. */
  readonly files?: Readonly<Record<string, string>>;
  readonly workspace?: string;
  readonly view?: View;
  /** Folders of extensions to install besides this one. */
  readonly extensionFolders?: readonly string[];
}

/** A VS Code with the packaged extension and a workspace of its own. */
export class Session {
  readonly #vsCode: VsCode;
  readonly #dataDir: string;

  private constructor(vsCode: VsCode, dataDir: string) {
    this.#vsCode = vsCode;
    this.#dataDir = dataDir;
  }

  static async start(startVsCode: StartVsCode, options: SessionOptions): Promise<Session> {
    const {
      files = {},
      workspace,
      view = { width: 1280, height: 800 },
      extensionFolders = [],
      ...user
    } = options;
    const dataDir = mkdtempSync(join(tmpdir(), 'slipstream-vscode-'));
    const folder = join(dataDir, 'workspace');
    mkdirSync(folder);
    if (workspace) cpSync(workspace, folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
    const extensions = [
      await packExtension(join(dataDir, 'slipstream.vsix')),
      ...(await Promise.all(
        extensionFolders.map((from, i) => packTestExtension(from, join(dataDir, `${i}.vsix`))),
      )),
    ];
    return new Session(await startVsCode({ dataDir, extensions, folder, view, ...user }), dataDir);
  }

  get editor(): Editor {
    return this.#vsCode.editor;
  }

  has(file: string): boolean {
    return existsSync(join(this.#dataDir, 'workspace', file));
  }

  read(file: string): string {
    return readFileSync(join(this.#dataDir, 'workspace', file), 'utf8');
  }

  /** The user's settings as VS Code keeps them; undefined in the moment in which it writes them. */
  userSettings(): Readonly<Record<string, unknown>> | undefined {
    const text = readFileSync(join(this.#dataDir, 'user', 'User', 'settings.json'), 'utf8');
    return text === '' ? undefined : JSON.parse(text);
  }

  /** What the extension logged so far. */
  log(): string {
    const logs = join(this.#dataDir, 'user', 'logs');
    return readdirSync(logs, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('Slipstream.log'))
      .map((name) => readFileSync(join(logs, name), 'utf8'))
      .join('');
  }

  /** Until it holds; with the log when that takes too long. */
  waitFor(what: string, holds: () => boolean, timeoutMs?: number): Promise<void> {
    return waitFor(what, holds, timeoutMs, () => this.log());
  }

  /** The engine processes of this session (Linux). */
  engines(): number[] {
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => pid > 0 && commandLine(pid).some((argument) => this.#isEngine(argument)));
  }

  kill(): void {
    this.#vsCode.kill();
  }

  async end(): Promise<void> {
    await this.#vsCode.end();
    await pause(500);
    rmSync(this.#dataDir, { recursive: true, force: true, maxRetries: 5 });
  }

  #isEngine(argument: string): boolean {
    return argument.startsWith(this.#dataDir) && argument.endsWith('/dist/engine.js');
  }
}

function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}
