import type * as vscode from 'vscode';
import { Slipstream } from './slipstream.ts';

let slipstream: Slipstream | undefined;

export function activate(context: vscode.ExtensionContext): void {
  slipstream = new Slipstream(context);
  context.subscriptions.push(slipstream);
}

export async function deactivate(): Promise<void> {
  await slipstream?.stop();
}
