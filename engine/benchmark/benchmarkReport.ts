/**
 * What a benchmark measured: the JSON document that the command line writes and the editor gets. Its names are those of
 * the file, its version changes with its meaning. docs/benchmark-json.md explains each field. Times in ms.
 */
import type { Algorithm } from '../protocol.ts';
import type { DraftSource } from '../tree/tokenTree.ts';

/**
 * `end_of_line`: the rest of a line; `block`: the statements up to the end of a block; `mid_line`: what stands between
 * the parentheses of a call, with text after it; `repetitive_edit`: lines written again after a name in them was changed.
 */
export const taskClasses = ['end_of_line', 'block', 'mid_line', 'repetitive_edit'] as const;
export type TaskClass = (typeof taskClasses)[number];

export interface BenchmarkReport {
  readonly schema_version: 1;
  /** ISO 8601. */
  readonly created: string;
  readonly seed: number;
  readonly max_new_tokens: number;
  /** It was ended early: what is here was measured before. */
  readonly cancelled: boolean;
  readonly material: BenchmarkMaterial;
  readonly machine: BenchmarkMachine;
  readonly model: BenchmarkModel;
  /** Those measured; `none` is always one, and the first. */
  readonly algorithms: readonly Algorithm[];
  readonly tasks: readonly BenchmarkTaskFacts[];
  /** One for each algorithm and class that has tasks, and one for each algorithm over all of them. */
  readonly results: readonly AlgorithmResult[];
  /** What `results` sums up: each task by each algorithm. */
  readonly runs: readonly TaskRunFacts[];
  /** Empty but for faults, and on a GPU for near-ties: speculation must not change what is written. */
  readonly differences: readonly OutputDifference[];
  /** One task of each class, step by step, by each algorithm. */
  readonly traces: readonly CompletionTrace[];
  /** To choose here: the fastest; `auto` where no other is faster beyond doubt; `none` when none is measurably faster. */
  readonly fastest: Algorithm;
  /** The outcome in a sentence or two. */
  readonly summary: string;
  /** What one has to know to read the figures. */
  readonly notes: readonly string[];
}

/** Where the tasks come from. */
export interface BenchmarkMaterial {
  /** `sample`: the files that come with Slipstream, for want of others. */
  readonly kind: 'folder' | 'workspace' | 'sample';
  readonly name: string;
  readonly files: number;
  /** Tokens in the n-gram index, and what they take. The index is the workspace's, whatever drafts from it. */
  readonly indexed_tokens: number;
  readonly index_bytes: number;
}

export interface BenchmarkMachine {
  readonly cpu: string;
  readonly cores: number;
  readonly memory_bytes: number;
  readonly platform: string;
  readonly node: string;
  /** Load average of the last minute before the benchmark; 0 on Windows, which has none. */
  readonly load: number;
}

export interface BenchmarkModel {
  readonly name: string;
  readonly family: string;
  readonly precision: string;
  readonly device: string;
  readonly weight_bytes: number;
  readonly context_length: number;
  readonly vocab_size: number;
  /** Time of a pass over `node_counts` new tokens after `contexts` tokens, as measured when the model was loaded. */
  readonly cost_table: {
    readonly node_counts: readonly number[];
    readonly contexts: readonly number[];
    readonly ms: readonly (readonly number[])[]; // [context, node count]
  };
}

export interface BenchmarkTaskFacts {
  readonly id: number;
  readonly task_class: TaskClass;
  /** In the folder or workspace, with forward slashes. */
  readonly path: string;
  /** Of the cursor, from 1. */
  readonly line: number;
  /** Of the cursor, from 1, in UTF-16 code units. */
  readonly column: number;
  /** What really stands there. */
  readonly real_text: string;
}

/** How a latency is spread. */
export interface Percentiles {
  readonly p50: number;
  readonly p90: number;
  readonly p99: number;
  readonly max: number;
}

/** One algorithm on the tasks of one class. Definitions follow vLLM's metrics. */
export interface AlgorithmResult {
  readonly algorithm: Algorithm;
  readonly task_class: TaskClass | 'all';
  readonly tasks: number;
  readonly completion_tokens: number;
  /** Of decoding alone: the prompt's evaluation is not in it. */
  readonly tokens_per_s: number;
  /** Decoding time of `none` over this algorithm's, summed over the tasks. */
  readonly speedup: number;
  /** 95 %, percentile bootstrap over tasks. */
  readonly speedup_ci: readonly [low: number, high: number];
  /** 1 + accepted tokens / drafts: the bonus is included. */
  readonly mean_acceptance_length: number;
  /** Accepted of drafted tokens; 0 when nothing was drafted. */
  readonly acceptance_rate: number;
  readonly num_drafts: number;
  readonly num_draft_tokens: number;
  readonly num_accepted_tokens: number;
  /** Accepted tokens by their position in the draft, the first one first. */
  readonly accepted_per_pos: readonly number[];
  /** The same as a share of the drafts. */
  readonly acceptance_rate_per_pos: readonly number[];
  readonly accepted_per_source: Readonly<Partial<Record<DraftSource, number>>>;
  /** From the request to the first token. */
  readonly ttft_ms: Percentiles;
  /** From the request to the whole suggestion. */
  readonly latency_ms: Percentiles;
  /** Mean of a step. */
  readonly draft_ms: number;
  /** Mean of a step: the target's pass over the draft, the verification and the commit. */
  readonly verify_ms: number;
  /** Prompt tokens evaluated a task; the others were there from the keystroke before. */
  readonly prefilled_tokens: number;
  /** Share of the tasks whose suggestion is the real text. */
  readonly exact_match: number;
  /** Mean of 1 - edit distance / length, between the suggestion and the real text. */
  readonly edit_similarity: number;
  /** Every task's tokens are those of `none`. */
  readonly lossless: boolean;
  /** Held for this algorithm beside what `none` holds, the workspace's index apart. */
  readonly extra_memory_bytes: number;
  /**
   * The speed-up over the one that the algorithm's accepted tokens allow on this machine:
   * tokens per step x T(1) / (T(n) + draft), with T from the cost table and n the tokens of its mean step.
   */
  readonly efficiency: number;
}

export interface TaskRunFacts {
  readonly task: number;
  readonly algorithm: Algorithm;
  readonly ttft_ms: number;
  readonly latency_ms: number;
  readonly decode_ms: number;
  readonly completion_tokens: number;
  /** The suggestion as it would be inserted at the cursor; empty when there is none. */
  readonly text: string;
  readonly exact_match: boolean;
  readonly edit_similarity: number;
}

/** A token and how it is shown: its bytes alone may be less than a character (U+FFFD). */
export interface TokenFacts {
  readonly token: number;
  readonly text: string;
}

/** An algorithm wrote something else than `none`. */
export interface OutputDifference {
  readonly task: number;
  readonly algorithm: Algorithm;
  /** Of the first token that differs, from 0. */
  readonly position: number;
  /** What `none` wrote there; null when it ended. */
  readonly expected: TokenFacts | null;
  /** What the algorithm wrote there; null when it ended. */
  readonly actual: TokenFacts | null;
  /** Not on a GPU: where the model is near a tie, sums that depend on the size of a pass decide there. */
  readonly is_fault: boolean;
  /** The difference in a sentence. */
  readonly cause: string;
}

/** One completion by one algorithm. */
export interface CompletionTrace {
  readonly task: number;
  readonly algorithm: Algorithm;
  /** The last lines before the cursor. */
  readonly before: string;
  readonly steps: readonly TraceStep[];
}

/** One pass of the target. */
export interface TraceStep {
  /** What was drafted, a tree: a parent stands before its children. */
  readonly drafted: readonly TraceNode[];
  /** The target's own token after the last accepted one; null when the text had ended before it. */
  readonly bonus: TokenFacts | null;
  /** What the text grew by. */
  readonly text: string;
  readonly draft_ms: number;
  readonly verify_ms: number;
}

export interface TraceNode extends TokenFacts {
  /** Index in `drafted`, or -1: it follows the text written so far. */
  readonly parent: number;
  readonly source: DraftSource;
  /** Estimated before the pass: that the target accepts the path to this node. */
  readonly probability: number;
  /** `unused`: accepted, but the text had ended before it. */
  readonly outcome: 'accepted' | 'rejected' | 'unused';
}

/** How far a benchmark is. */
export interface BenchmarkProgress {
  readonly phase: 'preparing' | 'warmingUp' | 'measuring';
  /** Completions of the phase, of how many; 0 of 0 while it is not known. */
  readonly done: number;
  readonly total: number;
  /** What is being done, in a few words. */
  readonly detail: string;
  /** Estimated time to the end of the phase; absent while there is nothing to tell it from. */
  readonly remainingMs?: number;
}
