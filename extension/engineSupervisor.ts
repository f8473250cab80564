import { isDeepStrictEqual } from 'node:util';
import * as vscode from 'vscode';
import type { EngineSettings, IndexProgress, LogLevel, WorkspaceFolder } from '../engine/protocol.ts';
import type { EngineClient } from './engineClient.ts';
import { EngineGone } from './engineErrors.ts';
import {
  type EngineEvent,
  type EngineState,
  initialLifecycle,
  type Lifecycle,
  next,
} from './engineLifecycle.ts';
import type { EngineProcess } from './engineProcess.ts';

/** Most changes are done before anybody could read that they are under way. */
const changeToldAfterMs = 200;

export interface EngineSetup {
  /** The bundled engine. */
  readonly path: string;
  readonly cacheDir: string;
  readonly settings: () => EngineSettings;
  readonly folders: () => readonly WorkspaceFolder[];
  readonly log: (level: LogLevel, message: string) => void;
}

/** Carries out what the lifecycle says: starts engines, watches them, ends them. */
export class EngineSupervisor implements vscode.Disposable {
  readonly #setup: EngineSetup;
  readonly #stateChanged = new vscode.EventEmitter<EngineState>();
  readonly #indexProgressed = new vscode.EventEmitter<IndexProgress>();
  readonly onDidChangeState = this.#stateChanged.event;
  readonly onIndexProgress = this.#indexProgressed.event;
  #lifecycle: Lifecycle = initialLifecycle;
  #process: EngineProcess | undefined;
  #sentSettings: EngineSettings | undefined;
  #ending: Promise<unknown> = Promise.resolve();
  /** Changes of settings under way: the engine makes one after the other. */
  #changes = 0;
  #stops = 0;

  constructor(setup: EngineSetup) {
    this.#setup = setup;
  }

  get state(): EngineState {
    return this.#lifecycle.state;
  }

  /** The engine, once it can be asked. */
  get client(): EngineClient | undefined {
    return this.state.kind === 'ready' ? this.#process?.client : undefined;
  }

  start(): void {
    this.#apply({ kind: 'start' });
  }

  /** @returns once no engine runs any more */
  async stop(): Promise<void> {
    this.#stops++;
    this.#apply({ kind: 'stop' });
    await this.#ending;
  }

  /** Unless somebody stops it meanwhile. */
  async restart(): Promise<void> {
    const stopped = this.stop();
    const stops = this.#stops;
    await stopped;
    if (stops === this.#stops) this.start();
  }

  /** Rejects with EngineFault when the engine keeps its old settings because the new ones do not work. */
  async applySettings(settings: EngineSettings): Promise<void> {
    const { client } = this;
    if (this.state.kind !== 'failed' && isDeepStrictEqual(settings, this.#sentSettings)) return;
    // While it starts the answer would come too late to be told apart; a failed one gets another chance.
    if (!client) return this.state.kind === 'stopped' ? undefined : this.restart();
    this.#sentSettings = settings;
    const tell = (event: EngineEvent) => {
      if (client === this.client) this.#apply(event);
    };
    this.#changes++;
    const telling = setTimeout(() => tell({ kind: 'changing' }), changeToldAfterMs);
    try {
      tell({ kind: 'ready', model: await client.changeSettings(settings) });
    } catch (error) {
      // One that went away meanwhile is followed by one that starts with these settings.
      if (error instanceof EngineGone) return;
      tell({ kind: 'kept' });
      throw error;
    } finally {
      clearTimeout(telling);
      this.#changes--;
      if (this.#changes > 0) tell({ kind: 'changing' });
    }
  }

  dispose(): void {
    this.#apply({ kind: 'stop' });
    this.#stateChanged.dispose();
    this.#indexProgressed.dispose();
  }

  #apply(event: EngineEvent): void {
    const before = this.state;
    this.#lifecycle = next(this.#lifecycle, event);
    const { state } = this;
    if (state === before) return;
    this.#setup.log(state.kind === 'failed' ? 'error' : 'info', describe(state));
    if (state.kind === 'stopped' || state.kind === 'failed') this.#end();
    this.#stateChanged.fire(state);
    if (state.kind === 'starting') void this.#launch(state);
  }

  #end(): void {
    const ended = this.#process;
    this.#process = undefined;
    if (ended) this.#ending = Promise.all([this.#ending, ended.end()]);
  }

  async #launch(starting: Extract<EngineState, { kind: 'starting' }>): Promise<void> {
    const { path, cacheDir, settings, folders, log } = this.#setup;
    // Loading the transport takes longer than all that VS Code waits for when it activates the extension.
    const { EngineProcess } = await import('./engineProcess.ts');
    if (this.state !== starting) return; // stopped meanwhile
    const engine = new EngineProcess(path, starting.runtime, {
      onLog: log,
      onIndexProgress: (progress) => this.#indexProgressed.fire(progress),
      onModelChanged: (model) => {
        if (this.#process === engine) this.#apply({ kind: 'ready', model });
      },
    });
    this.#process = engine;
    this.#sentSettings = settings();
    void engine.exit.then((how) => {
      log('info', `engine process ${engine.pid ?? ''} ended: ${how}`);
      if (this.#process === engine) this.#apply({ kind: 'exited', atMs: Date.now(), how });
    });
    try {
      const { model } = await engine.client.initialize({
        settings: this.#sentSettings,
        cacheDir,
        workspaceFolders: folders(),
      });
      if (this.#process === engine) this.#apply({ kind: 'ready', model });
    } catch (error) {
      // An engine that went away is told by its exit.
      if (this.#process !== engine || error instanceof EngineGone) return;
      this.#apply({ kind: 'fault', message: (error as Error).message });
    }
  }
}

function describe(state: EngineState): string {
  switch (state.kind) {
    case 'stopped':
      return 'engine stopped';
    case 'starting':
      return `engine starting on ${state.runtime === 'vscode' ? "VS Code's Node" : 'the node on PATH'}`;
    case 'ready':
      return state.isChanging
        ? 'engine loading what the settings ask for'
        : `engine ready: ${state.model.name}, ${state.model.device}, ${state.model.precision}`;
    case 'failed':
      return `engine failed: ${state.message}`;
  }
}
