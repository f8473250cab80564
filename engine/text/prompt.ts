import type { Tokenizer } from '../model/tokenizer.ts';
import type { EditPoint } from './editPoint.ts';
import { type Encodings, PromptEncoder } from './encodings.ts';
import { endOfPath } from './endOfPath.ts';
import type { FimFormat } from './fimFormat.ts';
import { holeOf } from './hole.ts';
import { anchorPrefix, type PrefixAnchor } from './prefixAnchor.ts';
import { MAX_PATH_TOKENS, type PromptBudget } from './promptBudget.ts';
import { type PromptPart, renderPrompt } from './promptRender.ts';
import type { ContextDocument, Snippet, SnippetChooser } from './snippets.ts';
import { type CountTokens, windowEnd } from './window.ts';
import { withLineFeeds } from './withLineFeeds.ts';
import type { WorkspacePieces } from './workspaceContext.ts';

export interface PromptRequest {
  readonly tokenizer: Tokenizer;
  readonly format: FimFormat;
  readonly budget: PromptBudget;
  readonly point: EditPoint;
  /** As people read it: relative to the workspace, with slashes. */
  readonly path?: string;
  /** Name of the repository, for formats that have a place for it. */
  readonly repo?: string;
  /** Text that belongs before and after the document: the other cells of a notebook. */
  readonly around?: { readonly before: string; readonly after: string };
  /** Open tabs, the most recently used first. */
  readonly context: readonly ContextDocument[];
  /** Of files that are not open. */
  readonly workspace?: WorkspacePieces;
  readonly snippets: SnippetChooser;
}

/**
 * What the next prompt for the same document has to know to begin with the same tokens. Keep the last one a
 * document; losing it costs a prefill and nothing else.
 */
export interface PromptMemory {
  readonly anchor: PrefixAnchor;
  readonly snippets: readonly Snippet[];
  /** Undefined: the documents that snippets were chosen from may be others under the same names. */
  readonly contextKey: string | undefined;
  readonly encodings: Encodings;
}

export interface Prompt {
  readonly tokens: Int32Array;
  /** Where the prefix lies in `tokens`: the document's own text right before the cursor. */
  readonly prefixRange: { readonly start: number; readonly end: number };
  readonly stopTokenIds: ReadonlySet<number>;
  /** The prompt in its parts, in order, to be shown. */
  readonly parts: readonly PromptPart[];
  readonly memory: PromptMemory;
}

/**
 * The tokens to continue. Costs the budget, not the document: nothing outside the windows is encoded. Typing
 * changes the prompt only at the prefix's end (and, in suffix-first formats, nowhere else), so that the KV rows
 * of all that stands before survive; see prefixAnchor.ts for the one exception.
 */
export function buildPrompt(request: PromptRequest, previous?: PromptMemory): Prompt {
  const { tokenizer, format, budget, point } = request;
  const encoder = new PromptEncoder(tokenizer, previous?.encodings);
  const encode = (text: string) => encoder.encode(withLineFeeds(text));
  const count = (text: string) => encode(text).length;

  const { text, prefixEnd, suffixStart } = holeOf(point, request.around);
  const { anchor, kept } = anchorPrefix(text, prefixEnd, budget.prefixTokens, count, previous?.anchor);
  const prefix = text.slice(anchor.start, prefixEnd);
  const suffix = text.slice(suffixStart, windowEnd(text, suffixStart, budget.suffixTokens, count));

  const key = contextKey(request);
  const sameContext = kept && previous?.contextKey === key;
  const snippets = sameContext
    ? previous.snippets
    : chooseSnippets(request, prefix, previous?.snippets ?? [], count);

  const { tokens, prefixRange, parts } = renderPrompt(tokenizer, encoder, format, {
    prefix: { text: withLineFeeds(prefix), tokens: encode(prefix).slice(-budget.prefixTokens) },
    suffix: { text: withLineFeeds(suffix), tokens: encode(suffix).slice(0, budget.suffixTokens) },
    path: request.path === undefined ? undefined : endOfPath(request.path, MAX_PATH_TOKENS, count),
    repo: request.repo,
    snippets,
  });
  return {
    tokens,
    prefixRange,
    stopTokenIds: tokenizer.specialTokenIds,
    parts,
    memory: { anchor, snippets, contextKey: key, encodings: encoder.texts },
  };
}

function chooseSnippets(
  request: PromptRequest,
  prefix: string,
  previous: readonly Snippet[],
  count: CountTokens,
): readonly Snippet[] {
  const { format, budget, context, workspace, snippets } = request;
  if (format.contextFile === undefined || budget.contextTokens === 0) return [];
  return snippets.choose({
    near: prefix,
    documents: context,
    pieces: (workspace?.pieces ?? []).filter(({ id }) => !context.some((tab) => tab.id === id)),
    rarity: (feature) => workspace?.rarity.get(feature) ?? 1,
    maxTokens: budget.contextTokens,
    count,
    previous,
  });
}

/** What the snippets were chosen from: as long as it is the same, they stay. */
function contextKey({ context, workspace }: PromptRequest): string {
  const documents = context.map(({ id, version }) => `${id}@${version}`).sort();
  return [workspace?.key ?? 0, ...documents].join('\n');
}
