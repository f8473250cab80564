import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Editor, View } from './editor.ts';

/** A VS Code that runs, with a person at it. */
export interface VsCode {
  readonly editor: Editor;
  /** As a crash of the machine's user session would end it. */
  kill(): void;
  end(): Promise<void>;
}

export interface VsCodeOptions extends UserOptions {
  /** The folder to open. */
  readonly folder: string;
  readonly view: View;
}

export interface UserOptions {
  /** A folder of its own for users' data, extensions and logs. */
  readonly dataDir: string;
  /** VSIX files to install. */
  readonly extensions: readonly string[];
  /** The user's settings, over quiet defaults. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** How much VS Code and extensions log. */
  readonly logLevel?: 'debug' | 'trace';
}

export type StartVsCode = (options: VsCodeOptions) => Promise<VsCode>;

const quietSettings = {
  'workbench.startupEditor': 'none',
  'workbench.secondarySideBar.defaultVisibility': 'hidden',
  'telemetry.telemetryLevel': 'off',
  'update.mode': 'none',
  'chat.disableAIFeatures': true,
};

/** Prepares the user's folder. @returns the options that make VS Code use it */
export function userData({ dataDir, settings }: UserOptions): string[] {
  const userDir = join(dataDir, 'user');
  mkdirSync(join(userDir, 'User'), { recursive: true });
  writeFileSync(join(userDir, 'User', 'settings.json'), JSON.stringify({ ...quietSettings, ...settings }));
  return ['--user-data-dir', userDir, '--extensions-dir', join(dataDir, 'extensions')];
}
