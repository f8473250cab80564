/** The shapes of protocol.ts as parsers: nothing that arrives is trusted before it went through one. */

import type {
  AlternativesParams,
  BenchmarkParams,
  CompleteParams,
  DocumentChange,
  EngineSettings,
  InitializeParams,
  OpenDocument,
  Position,
  Range,
  SuggestionPlace,
  WorkspaceFolder,
} from '../protocol.ts';
import { algorithms, devices, medusaTrees } from '../protocol.ts';
import { array, boolean, integer, object, oneOf, optional, string } from './parse.ts';

const position = object<Position>({ line: integer(0), character: integer(0) });
const range = object<Range>({ start: position, end: position });
const version = integer(Number.MIN_SAFE_INTEGER);

const workspaceFolder = object<WorkspaceFolder>({ uri: string, name: string, exclude: array(string) });

export const engineSettings = object<EngineSettings>({
  algorithm: oneOf(...algorithms),
  numSteps: optional(integer(1)),
  eagleTopk: optional(integer(1)),
  numDraftTokens: optional(integer(1)),
  medusaTree: optional(oneOf(...medusaTrees)),
  draftModel: optional(string),
  model: optional(string),
  device: oneOf(...devices),
  maxTokens: integer(1),
  promptTokens: optional(integer(1)),
});

export const initializeParams = object<InitializeParams>({
  settings: engineSettings,
  cacheDir: string,
  workspaceFolders: array(workspaceFolder),
});

export const openDocument = object<OpenDocument>({
  uri: string,
  languageId: string,
  version,
  text: string,
  notebook: optional(object<{ uri: string; cell: number }>({ uri: string, cell: integer(0) })),
});

export const documentChange = object<DocumentChange>({
  uri: string,
  baseVersion: version,
  version,
  changes: array(object<{ range: Range; text: string }>({ range, text: string })),
});

const place = {
  uri: string,
  version,
  position,
  selectedSuggestion: optional(object<{ range: Range; text: string }>({ range, text: string })),
  indentation: object<{ insertSpaces: boolean; tabSize: number }>({
    insertSpaces: boolean,
    tabSize: integer(1, 1000),
  }),
};

export const suggestionPlace = object<SuggestionPlace>(place);

export const completeParams = object<CompleteParams>({
  ...place,
  partialTextToken: integer(0),
});

export const alternativesParams = object<AlternativesParams>({
  ...place,
  count: integer(1, 100),
  known: array(string),
});

export const benchmarkParams = object<BenchmarkParams>({
  algorithms: optional(array(oneOf(...algorithms))),
  tasks: integer(1),
  seed: integer(0),
  maxNewTokens: integer(1),
  progressToken: integer(0),
});

export const documentUri = object<{ uri: string }>({ uri: string });

export const folders = object<{ folders: readonly WorkspaceFolder[] }>({ folders: array(workspaceFolder) });

export const files = object<{ uris: readonly string[] }>({ uris: array(string) });
