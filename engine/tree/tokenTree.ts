/** Where a drafted token came from. Metrics and the calibration are kept per source. */
export const draftSources = [
  'lastSuggestion',
  'document',
  'workspace',
  'changedCopy',
  'recycled',
  'eagle',
  'eagle3',
  'mtp',
  'medusa',
  'draftModel',
] as const;
export type DraftSource = (typeof draftSources)[number];

/** The parent of a node that continues the last committed token directly. */
export const ROOT = -1;

/**
 * Drafted tokens as a tree, in topological order (a parent's index is below its children's). A chain is a
 * tree with one child a node. Siblings hold distinct tokens.
 */
export interface TokenTree {
  readonly size: number;
  readonly tokens: Int32Array; // [node]
  readonly parents: Int32Array; // [node], ROOT or an index below the node's own
  readonly logProbs: Float32Array; // [node], log P(the target accepts the whole path to this node), estimated
  readonly sources: readonly DraftSource[]; // [node]
  /**
   * By parent: the distribution that its children were drawn from, in their order and without replacement. Children of
   * other parents were chosen, whatever the target's random numbers will be.
   *
   * A draw is verified as one, so none may be dropped for the token it turned out to be: its estimate in `logProbs` is
   * made before it is drawn, and is at most that of the siblings drawn before it.
   */
  readonly draftProbs?: ReadonlyMap<number, Float64Array>; // each [vocab], summing to 1
}

export const emptyTree: TokenTree = {
  size: 0,
  tokens: new Int32Array(0),
  parents: new Int32Array(0),
  logProbs: new Float32Array(0),
  sources: [],
};
