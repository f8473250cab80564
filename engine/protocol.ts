/**
 * What the extension and the engine process say to each other; protocolMethods.ts says in which calls.
 * The two are all of the engine that the extension imports: types, names, and the rules that both go by.
 */
export type * from './benchmark/benchmarkReport.ts';
/** Trees of a fixed shape that Medusa heads can draft. */
export { medusaTrees } from './draft/medusaTrees.ts';
/** What is wrong with settings that are each in order but do not go together. */
export { speculationProblem } from './speculation/speculationSettings.ts';
/** Documents for which this holds are never sent to the engine, and it never reads such files itself. */
export { isSecretPath } from './workspace/secretFiles.ts';

import type { MedusaTree } from './draft/medusaTrees.ts';

/** Zero-based, UTF-16 code units, as VS Code counts. */
export interface Position {
  readonly line: number;
  readonly character: number;
}

export interface Range {
  readonly start: Position;
  readonly end: Position;
}

/** SGLang's names, and AUTO, NONE, RECYCLE, MEDUSA and EAGLE2 (its EAGLE with a dynamic tree). NEXTN is the model's own multi-token-prediction head, n-gram where it has none. */
export const algorithms = [
  'auto',
  'none',
  'ngram',
  'recycle',
  'nextn',
  'standalone',
  'eagle',
  'eagle2',
  'eagle3',
  'medusa',
] as const;
export type Algorithm = (typeof algorithms)[number];
export const devices = ['auto', 'cpu', 'webgpu'] as const;
export type Device = (typeof devices)[number];

/** How to draft. Names and meaning follow SGLang's server options. */
export interface SpeculationSettings {
  readonly algorithm: Algorithm;
  /** Levels of the tree that a learned drafter drafts; absent: as many as pay. */
  readonly numSteps?: number;
  /** Most probable tokens that a learned drafter follows at each level; absent: as many as pay. */
  readonly eagleTopk?: number;
  /** Draft tokens a step, paying or not; absent: as many as pay. */
  readonly numDraftTokens?: number;
  /** A published tree for Medusa heads; absent: the one that the step's own probabilities make. */
  readonly medusaTree?: MedusaTree;
  /** Folder of a drafter (an EAGLE or Medusa head, a draft model); absent: the one in the model's folder `heads`. */
  readonly draftModel?: string;
}

/** Tokens of a suggestion at most, unless somebody says otherwise: a function's body. */
export const defaultMaxTokens = 128;
/** Tokens of a completion that a benchmark times: enough for drafting to show, and many tasks take little time. */
export const defaultBenchmarkTokens = 64;

export interface EngineSettings extends SpeculationSettings {
  /** Folder of a checkpoint in Hugging Face layout; absent: the embedded model. */
  readonly model?: string;
  readonly device: Device;
  /** Longest suggestion in tokens. */
  readonly maxTokens: number;
  /** Longest prompt in tokens; absent: what suits the model. */
  readonly promptTokens?: number;
}

export interface InitializeParams {
  readonly settings: EngineSettings;
  /** Folder for compiled graphs and persisted indexes. */
  readonly cacheDir: string;
  readonly workspaceFolders: readonly WorkspaceFolder[];
}

export interface WorkspaceFolder {
  readonly uri: string;
  readonly name: string;
  /** Globs of `files.exclude` that are on. */
  readonly exclude: readonly string[];
}

export interface InitializeResult {
  readonly model: ModelFacts;
}

export interface ModelFacts {
  readonly name: string;
  readonly device: string;
  readonly precision: string;
  /** Of the settings in force: those asked for last may have been refused. */
  readonly algorithm: Algorithm;
  /** Set when the device asked for could not be used: why, in words for the user. */
  readonly deviceNote?: string;
  /** Set when another drafter drafts than the algorithm's name says: which one, and why. */
  readonly draftNote?: string;
}

export interface OpenDocument {
  readonly uri: string;
  readonly languageId: string;
  readonly version: number;
  readonly text: string;
  /** Cells of one notebook share it. */
  readonly notebook?: { readonly uri: string; readonly cell: number };
}

export interface DocumentChange {
  readonly uri: string;
  /** The version that the changes apply to. Versions grow, not always by one. */
  readonly baseVersion: number;
  readonly version: number;
  readonly changes: readonly { readonly range: Range; readonly text: string }[];
}

/** Where something is to be suggested. */
export interface SuggestionPlace {
  readonly uri: string;
  readonly version: number;
  readonly position: Position;
  /** The suggest widget's selected item: the suggestion has to extend it. */
  readonly selectedSuggestion?: { readonly range: Range; readonly text: string };
  /** The editor's indentation. */
  readonly indentation: Indentation;
}

export interface CompleteParams extends SuggestionPlace {
  /** Names the request's `partialText` notifications. */
  readonly partialTextToken: number;
}

/** The editor's, in a document. */
export interface Indentation {
  readonly insertSpaces: boolean;
  readonly tabSize: number;
}

export interface AlternativesParams extends SuggestionPlace {
  /** At most so many. */
  readonly count: number;
  /** Texts that are suggested at this place already. */
  readonly known: readonly string[];
}

export interface Suggestion {
  /**
   * Replaces `range`, which lies on the position's line and ends at or after the position. With a
   * selected suggestion it begins where that begins, and the text with its text.
   */
  readonly text: string;
  readonly range: Range;
}

export type CompleteResult =
  | ({ readonly kind: 'completion'; readonly metrics: CompletionMetrics } & Suggestion)
  | { readonly kind: 'empty'; readonly reason: string }
  | { readonly kind: 'cancelled' }
  /** The engine does not have this version of the document: open it again, then ask again. */
  | { readonly kind: 'outOfSync' };

export type AlternativesResult =
  /** Different from each other and from what was known. */
  | { readonly kind: 'alternatives'; readonly suggestions: readonly Suggestion[] }
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'outOfSync' };

/** Names and definitions follow vLLM; times in ms. */
export interface CompletionMetrics {
  readonly algorithm: Algorithm;
  readonly promptTokens: number;
  readonly prefilledTokens: number;
  readonly completionTokens: number;
  readonly numDrafts: number;
  readonly numDraftTokens: number;
  readonly numAcceptedTokens: number;
  readonly numAcceptedTokensPerPos: readonly number[];
  /** Accepted tokens per source, so that one can see where a draft came from. */
  readonly numAcceptedTokensPerSource: Readonly<Record<string, number>>;
  /** Of those from the workspace: accepted tokens per file that they were drafted from. */
  readonly numAcceptedTokensPerFile: Readonly<Record<string, number>>;
  /** 1 + accepted / drafts (the bonus token included). */
  readonly meanAcceptanceLength: number;
  readonly prefillMs: number;
  readonly ttftMs: number;
  readonly decodeMs: number;
  readonly tokensPerS: number;
}

export interface IndexProgress {
  readonly state: 'building' | 'ready';
  readonly files: number;
  readonly filesDone: number;
  readonly tokens: number;
}

/** What to measure; model, device and length of the prompt are those of the settings. */
export interface BenchmarkParams {
  /** Absent: all that can run with the model. */
  readonly algorithms?: readonly Algorithm[];
  readonly tasks: number;
  /** Chooses the tasks. */
  readonly seed: number;
  /** Longest suggestion in tokens. */
  readonly maxNewTokens: number;
  /** Names the request's `benchmarkProgress` notifications. */
  readonly progressToken: number;
}

/** What an algorithm comes down to for the loaded model. */
export interface AlgorithmFacts {
  readonly algorithm: Algorithm;
  /** Set when it cannot draft: what is missing, as a sentence. */
  readonly missing?: string;
  /** What the user should know about it, as a sentence. */
  readonly note?: string;
}

/** A fault as the extension sees it: the JSON-RPC error's data. */
export interface FaultData {
  readonly code: string;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
