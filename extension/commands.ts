import * as vscode from 'vscode';
import { type AlgorithmFacts, algorithms } from '../engine/protocol.ts';
import { algorithmDescriptions } from './algorithmNames.ts';
import type { Configuration } from './configuration.ts';
import type { EngineSupervisor } from './engineSupervisor.ts';
import { LastPromptView } from './lastPrompt.ts';
import { isEnabledAnywhere } from './settings.ts';

export const menuCommand = 'slipstream.showMenu';

export interface CommandContext {
  readonly configuration: Configuration;
  readonly supervisor: EngineSupervisor;
  readonly showBenchmark: () => Promise<void>;
  readonly log: vscode.LogOutputChannel;
}

export function registerCommands(context: CommandContext): vscode.Disposable {
  const { configuration, supervisor, showBenchmark, log } = context;
  const lastPrompt = new LastPromptView();
  const commands: Readonly<Record<string, () => unknown>> = {
    'slipstream.enable': () => setEnabled(configuration, true),
    'slipstream.disable': () => setEnabled(configuration, false),
    'slipstream.restartEngine': () => supervisor.restart(),
    'slipstream.showLog': () => log.show(),
    'slipstream.pickAlgorithm': () => pickAlgorithm(configuration, supervisor),
    'slipstream.runBenchmark': showBenchmark,
    'slipstream.openSettings': () =>
      vscode.commands.executeCommand('workbench.action.openSettings', '@ext:slipstream.slipstream'),
    'slipstream.showLastPrompt': () => showLastPrompt(supervisor, lastPrompt),
    [menuCommand]: () => showMenu(configuration),
  };
  return vscode.Disposable.from(
    lastPrompt,
    ...Object.entries(commands).map(([name, run]) => vscode.commands.registerCommand(name, run)),
  );
}

/** Languages switched off by name stay off; languages switched on by name have nothing left to add. */
async function setEnabled(configuration: Configuration, enabled: boolean): Promise<void> {
  const off = Object.entries(configuration.settings.enable).filter(([name, on]) => name !== '*' && !on);
  await configuration.update('enable', { '*': enabled, ...Object.fromEntries(off) });
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
  const entries = [
    isEnabledAnywhere(configuration.settings)
      ? { label: '$(circle-slash) Disable', command: 'slipstream.disable' }
      : { label: '$(check) Enable', command: 'slipstream.enable' },
    { label: '$(rocket) Pick Algorithm', command: 'slipstream.pickAlgorithm' },
    { label: '$(dashboard) Run Benchmark', command: 'slipstream.runBenchmark' },
    { label: '$(debug-restart) Restart Engine', command: 'slipstream.restartEngine' },
    { label: '$(output) Show Log', command: 'slipstream.showLog' },
    { label: '$(note) Show Last Prompt', command: 'slipstream.showLastPrompt' },
    { label: '$(gear) Open Settings', command: 'slipstream.openSettings' },
  ];
  const choice = await vscode.window.showQuickPick(entries, { title: 'Slipstream' });
  if (choice) await vscode.commands.executeCommand(choice.command);
}
