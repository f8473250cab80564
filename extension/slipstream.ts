import * as vscode from 'vscode';
import type { CompletionMetrics, IndexProgress } from '../engine/protocol.ts';
import type { BenchmarkPanel } from './benchmark/benchmarkPanel.ts';
import { menuCommand, registerCommands } from './commands.ts';
import { isCompletable, whyNotCompletable } from './completableDocument.ts';
import { Configuration } from './configuration.ts';
import type { EngineState } from './engineLifecycle.ts';
import { EngineSupervisor } from './engineSupervisor.ts';
import { tellDeviceNote, tellFailure, tellRefusedSettings } from './faultMessages.ts';
import { InlineCompletionProvider } from './inlineCompletionProvider.ts';
import { Preparation } from './preparation.ts';
import { isEnabledAnywhere, isEnabledFor, type Settings } from './settings.ts';
import { StatusBar } from './statusBar.ts';
import { WorkspaceSync, workspaceFolders } from './workspaceSync.ts';

/** Composition root of the extension: its parts, and what each has to hear of the others. */
export class Slipstream implements vscode.Disposable {
  readonly #context: vscode.ExtensionContext;
  readonly #log = vscode.window.createOutputChannel('Slipstream', { log: true });
  readonly #configuration = new Configuration();
  readonly #sync = new WorkspaceSync();
  readonly #statusBar = new StatusBar(menuCommand);
  readonly #engine: EngineSupervisor;
  readonly #provider: InlineCompletionProvider;
  readonly #preparation: Preparation;
  readonly #subscriptions: vscode.Disposable;
  readonly #toldDeviceNotes = new Set<string>();
  #benchmarkPanel: BenchmarkPanel | undefined;
  #index: IndexProgress | undefined;
  #lastCompletion: CompletionMetrics | undefined;

  constructor(context: vscode.ExtensionContext) {
    this.#context = context;
    this.#engine = this.#createEngine();
    this.#provider = this.#createProvider();
    this.#preparation = new Preparation({
      engine: () => this.#engine.client,
      maySuggestIn: (document) => this.#maySuggestIn(document),
    });
    this.#subscriptions = this.#subscribe();
    this.#showStatus();
    // A fork takes longer than all of the above: it waits until VS Code has its extension.
    if (isEnabledAnywhere(this.#configuration.settings)) setImmediate(() => this.#engine.start());
  }

  /** Waits for the engine to end. */
  stop(): Promise<void> {
    return this.#engine.stop();
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#benchmarkPanel?.dispose();
    for (const part of [this.#configuration, this.#engine, this.#sync, this.#preparation, this.#statusBar])
      part.dispose();
    this.#log.dispose(); // last: the others may have something to say at their end
  }

  #createEngine(): EngineSupervisor {
    return new EngineSupervisor({
      path: this.#context.asAbsolutePath('dist/engine.js'),
      cacheDir: this.#context.globalStorageUri.fsPath,
      settings: () => this.#configuration.settings.engine,
      folders: workspaceFolders,
      log: (level, message) => this.#log[level](message),
    });
  }

  #createProvider(): InlineCompletionProvider {
    return new InlineCompletionProvider({
      engine: () => this.#engine.client,
      maySuggestIn: (document) => this.#maySuggestIn(document),
      suggestions: () => this.#configuration.settings.suggestions,
      sync: this.#sync,
      log: this.#log,
      onCompleted: (metrics) => {
        this.#lastCompletion = metrics;
        this.#showStatus();
      },
    });
  }

  #subscribe(): vscode.Disposable {
    return vscode.Disposable.from(
      registerCommands({
        configuration: this.#configuration,
        supervisor: this.#engine,
        showBenchmark: () => this.#showBenchmark(),
        log: this.#log,
      }),
      vscode.languages.registerInlineCompletionItemProvider({ pattern: '**' }, this.#provider),
      vscode.window.onDidChangeActiveTextEditor(() => this.#showStatus()),
      vscode.workspace.onDidOpenTextDocument(() => this.#showStatus()), // in another language, too
      this.#configuration.onDidChange((settings) => this.#applySettings(settings)),
      this.#engine.onIndexProgress((progress) => this.#indexProgressed(progress)),
      this.#engine.onDidChangeState((state) => this.#engineChanged(state)),
    );
  }

  #maySuggestIn(document: vscode.TextDocument): boolean {
    return isEnabledFor(this.#configuration.settings, document.languageId) && isCompletable(document);
  }

  #showStatus(): void {
    const { settings } = this.#configuration;
    const document = vscode.window.activeTextEditor?.document;
    this.#statusBar.show({
      engine: this.#engine.state,
      isEnabled: document ? isEnabledFor(settings, document.languageId) : isEnabledAnywhere(settings),
      notHere: document && whyNotCompletable(document),
      index: this.#index,
      lastCompletion: this.#lastCompletion,
    });
  }

  #applySettings(settings: Settings): void {
    if (!isEnabledAnywhere(settings)) void this.#engine.stop();
    else if (this.#engine.state.kind === 'stopped') this.#engine.start();
    else this.#engine.applySettings(settings.engine).catch(tellRefusedSettings);
    this.#showStatus();
  }

  #indexProgressed(progress: IndexProgress): void {
    this.#index = progress;
    // There may be more to say in a prompt than before.
    if (progress.state === 'ready') this.#preparation.soon();
    this.#showStatus();
  }

  #engineChanged(state: EngineState): void {
    if (state.kind === 'starting') this.#index = undefined;
    if (state.kind === 'ready' && !state.isChanging) this.#provider.reset();
    if (state.kind === 'ready' && this.#engine.client) this.#sync.attach(this.#engine.client);
    else this.#sync.detach();
    this.#preparation.soon();
    if (state.kind === 'failed') void tellFailure(state);
    if (state.kind === 'ready') this.#tellOnce(state.model.deviceNote);
    this.#showStatus();
  }

  #tellOnce(deviceNote: string | undefined): void {
    if (deviceNote === undefined || this.#toldDeviceNotes.has(deviceNote)) return;
    this.#toldDeviceNotes.add(deviceNote);
    void tellDeviceNote(deviceNote);
  }

  /** Loaded when it is first asked for: few sessions do. */
  async #showBenchmark(): Promise<void> {
    const { BenchmarkPanel } = await import('./benchmark/benchmarkPanel.ts');
    this.#benchmarkPanel ??= new BenchmarkPanel({
      configuration: this.#configuration,
      supervisor: this.#engine,
      extensionUri: this.#context.extensionUri,
      log: this.#log,
    });
    this.#benchmarkPanel.show();
  }
}
