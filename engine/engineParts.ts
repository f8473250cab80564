import { basename } from 'node:path';
import { Completer } from './completer.ts';
import { mostThreads } from './config.ts';
import { LastSuggestion } from './draft/lastSuggestion.ts';
import type { WorkspaceText } from './draft/ngramSources.ts';
import { embeddedModelDir } from './embeddedModel.ts';
import { ModelRuntime } from './modelRuntime.ts';
import type { EngineSettings } from './protocol.ts';
import type { EngineOptions } from './server/servedEngine.ts';
import { openSpeculation, type Speculation } from './speculation/speculation.ts';
import { planSpeculation, type SpeculationPlan } from './speculation/speculationPlan.ts';
import type { OpenSyntaxes } from './syntax/openSyntaxes.ts';
import type { RecentDocuments } from './text/recentDocuments.ts';
import { type SimilarPieces, WorkspaceContext } from './text/workspaceContext.ts';
import { greedyVerifier } from './verify/greedy.ts';
import type { TokenArray } from './workspace/hashChain.ts';
import type { Match } from './workspace/matchList.ts';
import type { WorkspaceFolders } from './workspace/workspaceFolders.ts';
import { WorkspaceIndex } from './workspace/workspaceIndex.ts';

/** What answers requests under some settings. Replaced as a whole, so that a completion meanwhile finds either all old or all new. */
export interface EngineParts {
  readonly settings: EngineSettings;
  readonly plan: SpeculationPlan;
  readonly runtime: ModelRuntime;
  readonly index: WorkspaceIndex;
  readonly speculation: Speculation;
  readonly completer: Completer;
  /** What is being suggested with them: they are disposed of when it is done. */
  readonly suggesting: Set<Promise<unknown>>;
}

/** What stays when parts are replaced. */
export interface PartsSetup extends Pick<EngineOptions, 'cacheDir' | 'log' | 'onIndexProgress'> {
  readonly folders: WorkspaceFolders;
  readonly documents: RecentDocuments;
  readonly syntaxes: OpenSyntaxes;
  readonly onFoldersChanged: () => void;
}

/**
 * Makes the parts for some settings; what of the old ones serves is in the new ones too. The old ones go on answering.
 *
 * @throws SlipstreamError when the model or what drafts for it cannot be loaded, or nobody can tell how it is asked to
 *   fill in the middle; nothing stays loaded then
 */
export async function loadParts(
  setup: PartsSetup,
  settings: EngineSettings,
  old: EngineParts | undefined,
): Promise<EngineParts> {
  const dir = settings.model ?? embeddedModelDir;
  const plan = await planSpeculation(settings, dir);
  const runtime = await loadTarget(setup, settings, plan, old);
  try {
    return await withSpeculation(setup, { settings, plan, runtime }, old);
  } catch (error) {
    if (runtime !== old?.runtime) await runtime.dispose();
    throw error;
  }
}

/** Once nothing is being suggested with them: all that is not in the parts in force. */
export async function disposeParts(parts: EngineParts, inForce: EngineParts | undefined): Promise<void> {
  await Promise.allSettled(parts.suggesting);
  await parts.speculation.dispose();
  if (parts.index !== inForce?.index) await parts.index.dispose();
  if (parts.runtime !== inForce?.runtime) await parts.runtime.dispose();
}

async function loadTarget(
  { cacheDir, log }: PartsSetup,
  settings: EngineSettings,
  plan: SpeculationPlan,
  old: EngineParts | undefined,
): Promise<ModelRuntime> {
  if (old && hasSameTarget(old, settings, plan)) return old.runtime;
  const options = { device: settings.device, cacheDir, threads: mostThreads, log };
  return ModelRuntime.load(settings.model ?? embeddedModelDir, { ...options, ...plan.outputs });
}

/** The same model on the same device, that hands out the same. */
function hasSameTarget(
  { settings, plan }: EngineParts,
  { model, device }: EngineSettings,
  { outputs }: SpeculationPlan,
): boolean {
  return (
    settings.model === model &&
    settings.device === device &&
    plan.outputs.taps.join() === outputs.taps.join() &&
    plan.outputs.successors === outputs.successors
  );
}

async function withSpeculation(
  setup: PartsSetup,
  target: Pick<EngineParts, 'settings' | 'plan' | 'runtime'>,
  old: EngineParts | undefined,
): Promise<EngineParts> {
  const { runtime, plan, settings } = target;
  const { tokenizer, model, threads } = runtime;
  const { cacheDir, log, syntaxes } = setup;
  const { maxTokens, promptTokens } = settings;
  const lastSuggestion = new LastSuggestion((text) => tokenizer.encode(text), model.info.vocabSize);
  const workspace = new BoundIndex();
  const opening = { target: runtime, workspace, lastSuggestion, cacheDir, threads, log };
  const speculation = await openSpeculation(plan, opening);
  try {
    const completer = new Completer({
      runtime,
      drafter: speculation.drafter,
      controller: speculation.controller,
      verifier: greedyVerifier,
      lastSuggestion,
      workspaceContext: new WorkspaceContext((near) => similarPieces(workspace.index!, setup.folders, near)),
      syntaxes,
      maxTokens,
      promptTokens,
    });
    // Last: it works from now on.
    workspace.index = old?.runtime.dir === runtime.dir ? old.index : createIndex(setup, runtime);
    return { ...target, index: workspace.index, speculation, completer, suggesting: new Set() };
  } catch (error) {
    await speculation.dispose();
    throw error;
  }
}

/** The index of the parts that a drafter belongs to: it is opened before they have one. */
class BoundIndex implements WorkspaceText {
  index: WorkspaceIndex | undefined;

  lookup(query: TokenArray): readonly Match[] {
    return this.index?.lookup(query) ?? [];
  }

  documentOf(match: Match): string | undefined {
    return this.index?.documentOf(match);
  }
}

function createIndex(setup: PartsSetup, runtime: ModelRuntime): WorkspaceIndex {
  const { cacheDir, log, folders, documents, onIndexProgress, onFoldersChanged } = setup;
  const { vocabSize } = runtime.model.info;
  const callbacks = { onProgress: onIndexProgress, onFoldersChanged, log };
  const index = new WorkspaceIndex({ modelDir: runtime.dir, vocabSize, cacheDir, ...callbacks });
  index.setFolders(folders.indexed);
  for (const document of documents) index.documentChanged(document.uri, () => document.getText());
  return index;
}

async function similarPieces(
  index: WorkspaceIndex,
  folders: WorkspaceFolders,
  near: string,
): Promise<SimilarPieces> {
  const { texts, rarity } = await index.similar(near);
  const pieces = texts.map(({ path, firstLine, text }) => ({
    id: path,
    path: folders.relativePath(path) ?? basename(path),
    firstLine,
    text,
  }));
  return { pieces, rarity };
}
