import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import { createEngine, type SlipstreamEngine } from '../engine.ts';
import type { EngineSettings, LogLevel, WorkspaceFolder } from '../protocol.ts';

export interface EvalEngine {
  /** Absolute. */
  readonly folder: string;
  /** Whether the folder's files may give context, as they do in an editor that has it open. */
  readonly context: 'workspace' | 'none';
  readonly settings: EngineSettings;
  readonly cacheDir: string;
  readonly log: (level: LogLevel, message: string) => void;
}

/** An engine with a folder open, as the editor would start it. */
export function openEngine(options: EvalEngine): Promise<SlipstreamEngine> {
  const { folder, context, settings, cacheDir, log } = options;
  const workspace: WorkspaceFolder = {
    uri: pathToFileURL(folder).href,
    name: basename(folder),
    // Documents keep their path in the prompt either way.
    exclude: context === 'workspace' ? [] : ['**'],
  };
  return createEngine({
    settings,
    cacheDir,
    workspaceFolders: [workspace],
    log,
    onIndexProgress: () => {},
    onModelChanged: () => {},
  });
}
