import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import * as vscode from 'vscode';
import { type EnableScopes, languages, type ReadSettings, readSettings, type Settings } from './settings.ts';

/** The user's settings, always valid: what is not is reported once and its default used. */
export class Configuration implements vscode.Disposable {
  readonly #changed = new vscode.EventEmitter<Settings>();
  readonly onDidChange = this.#changed.event;
  readonly #reported = new Set<string>();
  readonly #subscription: vscode.Disposable;
  #settings: Settings;

  constructor() {
    this.#settings = this.#read();
    this.#subscription = vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration('slipstream')) return;
      this.#settings = this.#read();
      this.#changed.fire(this.#settings);
    });
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Reads them again: a model that was missing may have come meanwhile. */
  reload(): void {
    this.#reported.clear();
    this.#settings = this.#read();
  }

  /** What `update` would replace, and what would still hold beside it. */
  get enableScopes(): EnableScopes {
    const set = vscode.workspace.getConfiguration('slipstream').inspect<unknown>('enable');
    const scopes = [set?.defaultValue, set?.globalValue, set?.workspaceValue];
    const [byDefault, global, workspace] = scopes.map(languages);
    const inWorkspace = set?.workspaceValue !== undefined;
    return inWorkspace
      ? { own: workspace, elsewhere: { ...byDefault, ...global } }
      : { own: global, elsewhere: byDefault };
  }

  /** Changes a setting where it is set now, in the workspace or else for the user. */
  async update(key: string, value: unknown): Promise<void> {
    const configuration = vscode.workspace.getConfiguration('slipstream');
    const inWorkspace = configuration.inspect(key)?.workspaceValue !== undefined;
    const { Global, Workspace } = vscode.ConfigurationTarget;
    await configuration.update(key, value, inWorkspace ? Workspace : Global);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
  }

  #read(): Settings {
    const configuration = vscode.workspace.getConfiguration('slipstream');
    const { settings, problems } = readSettings((key) => configuration.get(key), findModelFolder);
    this.#report(problems);
    return settings;
  }

  #report(problems: ReadSettings['problems']): void {
    const fresh = problems.filter((problem) => !this.#reported.has(problem));
    if (fresh.length === 0) return;
    for (const problem of fresh) this.#reported.add(problem);
    const openSettings = 'Open Settings';
    void vscode.window.showWarningMessage(fresh.join(' '), openSettings).then((choice) => {
      if (choice === openSettings) return vscode.commands.executeCommand('slipstream.openSettings');
      return undefined;
    });
  }
}

function findModelFolder(path: string): string | undefined {
  const full = path.replace(/^~(?=$|[/\\])/, () => homedir());
  return isAbsolute(full) && existsSync(join(full, 'config.json')) ? resolve(full) : undefined;
}
