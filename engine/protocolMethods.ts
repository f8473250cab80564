/**
 * The calls between the extension and the engine process (JSON-RPC; `server/transport.ts` says over what). Apart from
 * protocol.ts, so that what needs shapes alone does not load the transport.
 */
import { NotificationType, ProgressType, RequestType, RequestType0 } from 'vscode-jsonrpc/node';
import type {
  AlgorithmFacts,
  AlternativesParams,
  AlternativesResult,
  BenchmarkParams,
  BenchmarkProgress,
  BenchmarkReport,
  CompleteParams,
  CompleteResult,
  DocumentChange,
  EngineSettings,
  FaultData,
  IndexProgress,
  InitializeParams,
  InitializeResult,
  LogLevel,
  ModelFacts,
  OpenDocument,
  SuggestionPlace,
  WorkspaceFolder,
} from './protocol.ts';

export const initialize = new RequestType<InitializeParams, InitializeResult, FaultData>('initialize');
export const complete = new RequestType<CompleteParams, CompleteResult, FaultData>('complete');
/** Suggestions beside the most probable one, sampled: for a user who asks to see more. */
export const alternatives = new RequestType<AlternativesParams, AlternativesResult, FaultData>(
  'alternatives',
);
/**
 * All text generated so far for a request, after each decoding step, as it would stand right of the cursor: with the
 * document's indentation and line ends. Nothing is cut off it yet, so the result may be shorter.
 */
export const partialText = new ProgressType<string>();
/** Answers once the settings are in force, which may mean once another model is loaded. */
export const changeSettings = new RequestType<EngineSettings, ModelFacts, FaultData>('changeSettings');
export const listAlgorithms = new RequestType0<readonly AlgorithmFacts[], FaultData>('listAlgorithms');
/** The prompt of the last completion as text, special tokens visible. */
export const lastPrompt = new RequestType0<string | null, FaultData>('lastPrompt');
/**
 * Measures on the workspace's files, on a sample where there are none. Nothing is suggested meanwhile. Cancelled, it
 * answers with what was measured by then: null for nothing.
 */
export const runBenchmark = new RequestType<BenchmarkParams, BenchmarkReport | null, FaultData>(
  'runBenchmark',
);
export const benchmarkProgress = new ProgressType<BenchmarkProgress>();
export const shutdown = new RequestType0<null, FaultData>('shutdown');

export const didOpen = new NotificationType<OpenDocument>('document/didOpen');
export const didChange = new NotificationType<DocumentChange>('document/didChange');
export const didClose = new NotificationType<{ readonly uri: string }>('document/didClose');
/** The cursor rests there: something may be asked for soon. */
export const prepare = new NotificationType<SuggestionPlace>('completion/prepare');
/** Created, changed, renamed or deleted. */
export const didChangeFiles = new NotificationType<{ readonly uris: readonly string[] }>(
  'workspace/didChangeFiles',
);
export const didChangeFolders = new NotificationType<{ readonly folders: readonly WorkspaceFolder[] }>(
  'workspace/didChangeFolders',
);

/** Another device is in use though nobody asked for it; `deviceNote` says why. */
export const modelChanged = new NotificationType<ModelFacts>('model/didChange');
export const indexProgress = new NotificationType<IndexProgress>('index/progress');
export const log = new NotificationType<{ readonly level: LogLevel; readonly message: string }>('log');
