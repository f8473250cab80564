import type { TokenTree } from '../tree/tokenTree.ts';
import type { Proposal } from './proposal.ts';

/** Indices [start, end). */
export interface TokenRange {
  readonly start: number;
  readonly end: number;
}

/** Hidden states of the target at the layers it was opened to hand out (TargetOutputs.taps), one row a token. */
export interface HiddenRows {
  /** Tokens [0, length) have their rows; those past it are pending, at least the last one. */
  readonly length: number;
  /** Floats a row: taps * hiddenSize, in the order of the taps. */
  readonly width: number;
  /** Rows [start, end) // [end - start, width]. Valid until the next commit; copy what is kept. */
  slice(start: number, end: number): Float32Array;
}

/** What a drafter may look at: the committed tokens of a session and their hidden states, never its KV rows. */
export interface SessionView {
  /** Another number for every session, from 1 on: within one, tokens are only ever added. */
  readonly id: number;
  /** Prompt and generated tokens, all committed. Valid until the next commit; do not keep it. */
  readonly tokens: Int32Array;
  /** How many of `tokens` are the prompt. */
  readonly promptLength: number;
  /**
   * The text before the cursor, inside the prompt: what is generated continues its end, whatever a
   * fill-in-the-middle format puts between the two. The whole prompt when there is no such format.
   */
  readonly prefix: TokenRange;
  /** The text after the cursor, inside the prompt; empty when there is none. */
  readonly suffix: TokenRange;
  /** The document that is being completed, by the name that the workspace index has for it. */
  readonly document?: string | undefined;
  readonly hidden: HiddenRows;
}

/** What became of a proposal. */
export interface Verdict {
  /** What was verified: a part of what was proposed, nothing when nothing was proposed. */
  readonly tree: TokenTree;
  /** The last committed token, which the tree continues. */
  readonly root: number;
  /** Indices of the accepted nodes, root to leaf. */
  readonly accepted: readonly number[];
  /** The target's own token after the last accepted node. */
  readonly bonus: number;
  /** How many of the accepted tokens and the bonus after them came before the end of the text; absent: all of them. */
  readonly taken?: number | undefined;
  /** How the drafter was asked before the pass; absent: it made a proposal. */
  readonly drafting?: 'notAsked' | 'catchingUp' | 'drafted' | undefined;
  /**
   * The target's most probable next tokens, best first: row 0 after the last committed token, row i + 1 after node i.
   * Of a target that was opened to hand them out (TargetOutputs.successors).
   */
  readonly successors?: Int32Array | undefined; // [tree.size + 1, k]
}

/** For drafters that it costs something to go on. */
export interface ProposalLimits {
  /** Levels of the tree at most. */
  readonly levels?: number;
  /** Once it is aborted the proposal is not verified: a drafter gives back what it has and stops. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Guesses what the target will write next. Losslessness never depends on a drafter: whatever it proposes,
 * the verifier keeps only what the target itself would have written.
 */
export interface Drafter {
  readonly name: string;
  /** Memory that it holds beside the target's: weights, KV rows, tables. The workspace index is the workspace's. */
  readonly bytes: number;
  /** Accepted tokens of the session under way by the workspace file they were drafted from. */
  readonly acceptedFrom?: ReadonlyMap<string, number>;
  /**
   * At most `budget` nodes. An empty tree is a fine answer; one that has to catch up with the session first says so.
   * Called once a decoding step.
   */
  propose(view: SessionView, budget: number, limits?: ProposalLimits): Proposal | Promise<Proposal>;
  /** Called after each pass of the target, also when the drafter was not asked before it. */
  observe(verdict: Verdict): void;
  dispose(): void;
}
