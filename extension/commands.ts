import * as vscode from 'vscode';
import { type AlgorithmFacts, algorithms } from '../engine/protocol.ts';
import { algorithmDescriptions } from './algorithmNames.ts';
import type { Configuration } from './configuration.ts';
import type { EngineSupervisor } from './engineSupervisor.ts';
import { LastPromptView } from './lastPrompt.ts';
import { allEnabled, isEnabledAnywhere, isEnabledFor, type Settings } from './settings.ts';

export const menuCommand = 'slipstream.showMenu';
/** Takes a language id and whether it is switched on; for the menu alone. */
const setEnabledForCommand = 'slipstream.setEnabledFor';

export interface CommandContext {
  readonly configuration: Configuration;
  readonly supervisor: EngineSupervisor;
  readonly showBenchmark: () => Promise<void>;
  readonly log: vscode.LogOutputChannel;
}

export function registerCommands(context: CommandContext): vscode.Disposable {
  const { configuration, supervisor, showBenchmark, log } = context;
  const lastPrompt = new LastPromptView();
  const commands: Readonly<Record<string, (...args: never[]) => unknown>> = {
    'slipstream.enable': () => setEnabled(configuration, true),
    'slipstream.disable': () => setEnabled(configuration, false),
    'slipstream.restartEngine': () => restartEngine(configuration, supervisor),
    'slipstream.showLog': () => log.show(),
    'slipstream.pickAlgorithm': () => pickAlgorithm(configuration, supervisor),
    'slipstream.runBenchmark': showBenchmark,
    'slipstream.openSettings': () =>
      vscode.commands.executeCommand('workbench.action.openSettings', '@ext:slipstream.slipstream'),
    'slipstream.showLastPrompt': () => showLastPrompt(supervisor, lastPrompt),
    [setEnabledForCommand]: (language: string, on: boolean) => setEnabledFor(configuration, language, on),
    [menuCommand]: () => showMenu(configuration),
  };
  return vscode.Disposable.from(
    lastPrompt,
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run)),
  );
}

async function setEnabled(configuration: Configuration, on: boolean): Promise<void> {
  const { settings, enableScopes } = configuration;
  const language = vscode.window.activeTextEditor?.document.languageId;
  const isOff = language !== undefined && !isEnabledFor(settings, language);
  // Where all others are on, it can only mean the one that is not.
  if (on && isOff && settings.enable['*'] !== false) return setEnabledFor(configuration, language, true);
  await configuration.update('enable', allEnabled(on, enableScopes));
}

async function setEnabledFor(configuration: Configuration, languageId: string, on: boolean): Promise<void> {
  await configuration.update('enable', { ...configuration.enableScopes.own, [languageId]: on });
}

/** With what the settings say now, also of folders that were not there when they were read. */
async function restartEngine(configuration: Configuration, supervisor: EngineSupervisor): Promise<void> {
  configuration.reload();
  if (isEnabledAnywhere(configuration.settings)) return supervisor.restart();
  const enable = 'Enable';
  const choice = await vscode.window.showInformationMessage('Slipstream is disabled.', enable);
  if (choice === enable) await setEnabled(configuration, true);
}

/** Those that lack something for the model come last, with what they lack. */
async function pickAlgorithm(
  configuration: Configuration,
  { client, state }: EngineSupervisor,
): Promise<void> {
  const inUse = state.kind === 'ready' ? state.model.algorithm : configuration.settings.engine.algorithm;
  const facts: readonly AlgorithmFacts[] =
    (await client?.listAlgorithms()) ?? algorithms.map((algorithm) => ({ algorithm }));
  const entry = ({ algorithm, missing, note }: AlgorithmFacts) => ({
    label: algorithm,
    description: algorithm === inUse ? 'in use' : '',
    missing,
    detail: missing ?? note ?? algorithmDescriptions[algorithm],
  });
  const missing = facts.filter((algorithm) => algorithm.missing !== undefined);
  const separator = {
    label: 'Not with this model',
    kind: vscode.QuickPickItemKind.Separator,
    missing: undefined,
  };
  const choice = await vscode.window.showQuickPick(
    [
      ...facts.filter((algorithm) => algorithm.missing === undefined).map(entry),
      ...(missing.length > 0 ? [separator, ...missing.map(entry)] : []),
    ],
    { title: 'Slipstream: speculative decoding', placeHolder: 'The text is the same with each of them' },
  );
  if (choice?.missing) void vscode.window.showWarningMessage(`Slipstream: ${choice.missing}`);
  else if (choice) await configuration.update('speculative.algorithm', choice.label);
}

async function showLastPrompt({ client }: EngineSupervisor, view: LastPromptView): Promise<void> {
  const prompt = await client?.lastPrompt();
  if (prompt) return view.show(prompt);
  void vscode.window.showInformationMessage(
    client
      ? 'There is no prompt yet: it is made when a suggestion is asked for.'
      : "There is no prompt: Slipstream's engine is not running.",
  );
}

async function showMenu(configuration: Configuration): Promise<void> {
  const { settings } = configuration;
  const language = vscode.window.activeTextEditor?.document.languageId;
  const entries = [
    isEnabledAnywhere(settings)
      ? { label: '$(circle-slash) Disable', command: 'slipstream.disable' }
      : { label: '$(check) Enable', command: 'slipstream.enable' },
    ...(language !== undefined && isEnabledAnywhere(settings) ? [languageEntry(settings, language)] : []),
    { label: '$(rocket) Pick Algorithm', command: 'slipstream.pickAlgorithm' },
    { label: '$(dashboard) Run Benchmark', command: 'slipstream.runBenchmark' },
    { label: '$(debug-restart) Restart Engine', command: 'slipstream.restartEngine' },
    { label: '$(output) Show Log', command: 'slipstream.showLog' },
    { label: '$(note) Show Last Prompt', command: 'slipstream.showLastPrompt' },
    { label: '$(gear) Open Settings', command: 'slipstream.openSettings' },
  ];
  const choice = await vscode.window.showQuickPick(entries, { title: 'Slipstream' });
  if (!choice) return;
  // After a click VS Code gives the focus back to the status bar, where typing on does nothing.
  await vscode.commands.executeCommand('workbench.action.focusActiveEditorGroup');
  await vscode.commands.executeCommand(choice.command, ...('args' in choice ? choice.args : []));
}

function languageEntry(settings: Settings, language: string) {
  const isOn = isEnabledFor(settings, language);
  return {
    label: isOn ? `$(circle-slash) Disable for ${language}` : `$(check) Enable for ${language}`,
    command: setEnabledForCommand,
    args: [language, !isOn],
  };
}
