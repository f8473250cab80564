import * as vscode from 'vscode';
import type { CompletionMetrics, IndexProgress } from '../engine/protocol.ts';
import type { BenchmarkPanel } from './benchmark/benchmarkPanel.ts';
import { menuCommand, registerCommands } from './commands.ts';
import { isCompletable, whyNotCompletable } from './completableDocument.ts';
import { Configuration } from './configuration.ts';
import { EngineSupervisor } from './engineSupervisor.ts';
import { tellDeviceNote, tellFailure, tellRefusedSettings } from './faultMessages.ts';
import { InlineCompletionProvider } from './inlineCompletionProvider.ts';
import { Preparation } from './preparation.ts';
import { isEnabledAnywhere, isEnabledFor, type Settings } from './settings.ts';
import { StatusBar } from './statusBar.ts';
import { WorkspaceSync, workspaceFolders } from './workspaceSync.ts';

let supervisor: EngineSupervisor | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel('Slipstream', { log: true });
  const configuration = new Configuration();
  const engine = new EngineSupervisor({
    path: context.asAbsolutePath('dist/engine.js'),
    cacheDir: context.globalStorageUri.fsPath,
    settings: () => configuration.settings.engine,
    folders: workspaceFolders,
    log: (level, message) => log[level](message),
  });
  supervisor = engine;
  const sync = new WorkspaceSync();
  const statusBar = new StatusBar(menuCommand);
  let index: IndexProgress | undefined;
  let lastCompletion: CompletionMetrics | undefined;
  const toldDeviceNotes = new Set<string>();

  const showStatus = () => {
    const { settings } = configuration;
    const document = vscode.window.activeTextEditor?.document;
    const isEnabled = document ? isEnabledFor(settings, document.languageId) : isEnabledAnywhere(settings);
    const notHere = document && whyNotCompletable(document);
    statusBar.show({ engine: engine.state, isEnabled, notHere, index, lastCompletion });
  };
  const maySuggestIn = (document: vscode.TextDocument) =>
    isEnabledFor(configuration.settings, document.languageId) && isCompletable(document);
  const provider = new InlineCompletionProvider({
    engine: () => engine.client,
    maySuggestIn,
    suggestions: () => configuration.settings.suggestions,
    sync,
    log,
    onCompleted: (metrics) => {
      lastCompletion = metrics;
      showStatus();
    },
  });
  const preparation = new Preparation({ engine: () => engine.client, maySuggestIn });
  let benchmarkPanel: Promise<BenchmarkPanel> | undefined;
  const showBenchmark = async () => {
    benchmarkPanel ??= import('./benchmark/benchmarkPanel.ts').then((module) => {
      const { extensionUri } = context;
      const panel = new module.BenchmarkPanel({ configuration, supervisor: engine, extensionUri, log });
      context.subscriptions.push(panel);
      return panel;
    });
    (await benchmarkPanel).show();
  };
  const applySettings = (settings: Settings) => {
    if (!isEnabledAnywhere(settings)) void engine.stop();
    else if (engine.state.kind === 'stopped') engine.start();
    else engine.applySettings(settings.engine).catch(tellRefusedSettings);
    showStatus();
  };

  context.subscriptions.push(
    configuration,
    engine,
    sync,
    preparation,
    statusBar,
    registerCommands({ configuration, supervisor: engine, showBenchmark, log }),
    vscode.languages.registerInlineCompletionItemProvider({ pattern: '**' }, provider),
    vscode.window.onDidChangeActiveTextEditor(showStatus),
    vscode.workspace.onDidOpenTextDocument(showStatus), // in another language, too
    configuration.onDidChange(applySettings),
    engine.onIndexProgress((progress) => {
      index = progress;
      // There may be more to say in a prompt than before.
      if (progress.state === 'ready') preparation.soon();
      showStatus();
    }),
    engine.onDidChangeState((state) => {
      if (state.kind === 'starting') index = undefined;
      if (state.kind === 'ready' && !state.isChanging) provider.reset();
      if (state.kind === 'ready' && engine.client) sync.attach(engine.client);
      else sync.detach();
      preparation.soon();
      if (state.kind === 'failed') void tellFailure(state);
      const note = state.kind === 'ready' ? state.model.deviceNote : undefined;
      if (note !== undefined && !toldDeviceNotes.has(note)) void tellDeviceNote(note);
      if (note !== undefined) toldDeviceNotes.add(note);
      showStatus();
    }),
    log, // last: the others may have something to say at their end
  );
  showStatus();
  // A fork takes longer than all of the above: it waits until VS Code has its extension.
  if (isEnabledAnywhere(configuration.settings)) setImmediate(() => engine.start());
}

export async function deactivate(): Promise<void> {
  await supervisor?.stop();
}
