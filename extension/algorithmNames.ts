/** How people are told of the algorithms. Without imports at run time: the benchmark's webview bundles it too. */
import type { Algorithm } from '../engine/protocol.ts';

export const algorithmNames: Readonly<Record<Algorithm, string>> = {
  auto: 'Auto',
  none: 'Plain decoding',
  ngram: 'N-gram',
  recycle: 'Token recycling',
  nextn: 'NEXTN',
  standalone: 'Draft model',
  eagle: 'EAGLE',
  eagle2: 'EAGLE-2',
  eagle3: 'EAGLE-3',
  medusa: 'Medusa',
};

export const algorithmDescriptions: Readonly<Record<Algorithm, string>> = {
  auto: 'all that pays on this machine, blended into one tree',
  none: 'no speculation: one token a step',
  ngram: 'drafts from the open documents, the workspace and the last suggestion',
  recycle: "drafts from the model's own second thoughts about earlier tokens",
  nextn: "the model's own multi-token-prediction head; n-gram where it has none",
  standalone: 'a small model drafts',
  eagle: 'an EAGLE head drafts a tree of a fixed shape',
  eagle2: 'an EAGLE head drafts the tree that it is surest of',
  eagle3: 'an EAGLE-3 head drafts the tree that it is surest of',
  medusa: 'Medusa heads draft, each a token further ahead',
};
