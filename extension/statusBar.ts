import * as vscode from 'vscode';
import type { CompletionMetrics, IndexProgress } from '../engine/protocol.ts';
import type { EngineState } from './engineLifecycle.ts';
import { markdownText } from './markdownText.ts';

export interface Status {
  readonly engine: EngineState;
  readonly isEnabled: boolean;
  /** Why nothing is suggested in the file that is open, though its language is enabled. */
  readonly notHere: string | undefined;
  readonly index: IndexProgress | undefined;
  readonly lastCompletion: CompletionMetrics | undefined;
}

/** What runs, at a glance; the tooltip has the rest and a click the commands. */
export class StatusBar implements vscode.Disposable {
  readonly #item: vscode.StatusBarItem;

  constructor(menuCommand: string) {
    this.#item = vscode.window.createStatusBarItem('slipstream.status', vscode.StatusBarAlignment.Right, 100);
    this.#item.name = 'Slipstream';
    this.#item.command = menuCommand;
    this.#item.show();
  }

  show(status: Status): void {
    const { text, background } = appearance(status);
    this.#item.text = text;
    this.#item.backgroundColor = background === undefined ? undefined : new vscode.ThemeColor(background);
    this.#item.tooltip = new vscode.MarkdownString(tooltip(status));
    this.#item.accessibilityInformation = { label: `Slipstream, ${stateInWords(status)}` };
  }

  dispose(): void {
    this.#item.dispose();
  }
}

function appearance(status: Status): { text: string; background?: string } {
  const { engine, isEnabled } = status;
  if (!isEnabled) return { text: '$(circle-slash) Slipstream' };
  switch (engine.kind) {
    case 'stopped':
      return { text: '$(debug-pause) Slipstream' };
    case 'starting':
      return { text: '$(loading~spin) Slipstream' };
    case 'failed':
      return { text: '$(error) Slipstream', background: 'statusBarItem.errorBackground' };
    case 'ready':
      return { text: `${readyIcon(status)} ${engine.model.name} · ${engine.model.algorithm}` };
  }
}

function readyIcon({ engine, notHere }: Status): string {
  if (engine.kind === 'ready' && engine.isChanging) return '$(loading~spin)';
  return notHere === undefined ? '$(zap)' : '$(circle-slash)';
}

function stateInWords({ engine, isEnabled, notHere }: Status): string {
  if (!isEnabled) return 'disabled';
  switch (engine.kind) {
    case 'stopped':
      return 'stopped';
    case 'starting':
      return 'loading the model';
    case 'failed':
      return `failed: ${engine.message}`;
    case 'ready':
      return [
        engine.isChanging ? 'loading what the settings ask for' : 'ready',
        ...(notHere === undefined ? [] : [`no suggestions in this file: ${notHere}`]),
        ...(engine.model.deviceNote === undefined ? [] : [engine.model.deviceNote]),
      ].join('; ');
  }
}

function tooltip(status: Status): string {
  const state = `**Slipstream**: ${markdownText(stateInWords(status))}`;
  return [state, ...facts(status).map(markdownText)].join('\n\n');
}

function facts({ engine, index, lastCompletion }: Status): string[] {
  if (engine.kind !== 'ready') return [];
  const { name, precision, device, algorithm } = engine.model;
  const lines = [`Model: ${name} (${precision}) on ${device}`, `Algorithm: ${algorithm}`];
  if (engine.model.draftNote) lines.push(engine.model.draftNote);
  if (index) lines.push(`Workspace index: ${indexInWords(index)}`);
  if (lastCompletion) lines.push(`Last suggestion: ${completionInWords(lastCompletion)}`);
  return lines;
}

function indexInWords({ state, files, filesDone, tokens }: IndexProgress): string {
  return state === 'ready'
    ? `${tokens.toLocaleString('en')} tokens`
    : `${filesDone.toLocaleString('en')} of ${files.toLocaleString('en')} files`;
}

function completionInWords({
  completionTokens,
  prefillMs,
  decodeMs,
  ...speculation
}: CompletionMetrics): string {
  const time = `${completionTokens} tokens in ${Math.round(prefillMs + decodeMs)} ms`;
  if (speculation.numDrafts === 0) return `${time}, nothing drafted`;
  const sources = Object.entries(speculation.numAcceptedTokensPerSource)
    .map(([source, accepted]) => `${accepted} from ${source}`)
    .join(', ');
  const length = speculation.meanAcceptanceLength.toFixed(1);
  return `${time}, ${length} a step; accepted ${sources || 'none'}`;
}
