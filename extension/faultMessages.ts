import * as vscode from 'vscode';
import type { EngineState } from './engineLifecycle.ts';

const actions = {
  'Show Log': 'slipstream.showLog',
  'Restart Engine': 'slipstream.restartEngine',
  'Open Settings': 'slipstream.openSettings',
} as const;
type Action = keyof typeof actions;

/** Says once that the engine does not work, and what can be done about it. */
export async function tellFailure(state: Extract<EngineState, { kind: 'failed' }>): Promise<void> {
  const offered: Action[] =
    state.cause === 'crashes'
      ? ['Show Log', 'Restart Engine']
      : ['Open Settings', 'Show Log', 'Restart Engine'];
  await tell(`Slipstream: ${state.message}`, offered);
}

/** Settings that the engine refused while it goes on with the ones before. */
export async function tellRefusedSettings(error: Error): Promise<void> {
  await tell(`Slipstream keeps the settings it had: ${error.message}`, ['Open Settings', 'Show Log']);
}

/** The device asked for is not the one in use. */
export async function tellDeviceNote(note: string): Promise<void> {
  await tell(`Slipstream: ${note}`, ['Open Settings', 'Show Log']);
}

async function tell(message: string, offered: readonly Action[]): Promise<void> {
  const choice = await vscode.window.showErrorMessage(message, ...offered);
  if (choice) await vscode.commands.executeCommand(actions[choice]);
}
