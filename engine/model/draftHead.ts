import type { Checkpoint } from '../compile/checkpoint.ts';
import { compileDraftGraph, type DraftCompileOptions } from '../compile/heads/compileDraftGraph.ts';
import type { Expansion } from '../compile/heads/eagleGraphExpansion.ts';
import type { RecurrentHead } from '../compile/heads/eagleGraphStep.ts';
import { elementCount } from '../compile/storedTensor.ts';
import { checkHeadComputesNumbers } from './computesNumbers.ts';
import { type LoadOptions, loadCompiled } from './cpuSession.ts';
import { DraftHeadRows, type TreeLimits } from './draftHeadRows.ts';
import type * as ort from './onnxruntime.ts';

export interface DraftHeadOptions extends DraftCompileOptions, LoadOptions {}

export interface DraftHeadInfo {
  readonly kind: RecurrentHead['kind'];
  readonly expansion: Expansion;
  /** Floats of one pair's feature: the target's taps side by side. */
  readonly featureWidth: number;
  /** Children that a node can have: tokens of the draft vocabulary. */
  readonly vocabSize: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Positions that a token attends to at most: those that the head was trained on. */
  readonly window: number;
  /** Positions that there can be. */
  readonly contextLength: number;
  readonly weightBytes: number;
  /** What the KV rows of one pair cost. */
  readonly multiplicationsPerPair: number;
}

/** What a head recycles of its own shows at the second one. */
const TWO_TOKENS: TreeLimits = {
  levels: 2,
  width: 1,
  leastLogProb: Number.NEGATIVE_INFINITY,
  expand: Int32Array.of(0, 0),
};

/** A head with one decoder layer (EAGLE, EAGLE-2, EAGLE-3, MTP), loaded. It runs on the CPU wherever the target does. */
export class DraftHead {
  readonly info: DraftHeadInfo;
  readonly #session: ort.InferenceSession;

  private constructor(session: ort.InferenceSession, info: DraftHeadInfo) {
    this.#session = session;
    this.info = info;
  }

  /**
   * @param target the model that the head drafts for, as it was opened: with the head's taps
   * @throws SlipstreamError usage when the CPU does not run the precision, model.corrupt, outOfMemory, io
   */
  static async open(head: RecurrentHead, target: Checkpoint, options: DraftHeadOptions): Promise<DraftHead> {
    const compile = () => compileDraftGraph(head, target, options);
    const { session, compiled } = await loadCompiled(compile, options);
    const { kvHeads, headDim, contextLength: window } = head.layer;
    const { vocabSize, hiddenSize } = target.architecture;
    const opened = new DraftHead(session, {
      kind: head.kind,
      expansion: compiled.expansion,
      featureWidth: head.taps.length * hiddenSize,
      vocabSize: head.kind === 'eagle3' ? head.draftVocabSize : vocabSize,
      kvHeads,
      headDim,
      window,
      contextLength: compiled.contextLength,
      weightBytes: compiled.weightBytes,
      multiplicationsPerPair: multiplicationsPerPair(head),
    });
    try {
      await opened.#checkComputesNumbers(head.dir);
      return opened;
    } catch (error) {
      await opened.dispose();
      throw error;
    }
  }

  /** Of one sequence. */
  createRows(): DraftHeadRows {
    return new DraftHeadRows(this.#session, this.info);
  }

  dispose(): Promise<void> {
    return this.#session.release();
  }

  async #checkComputesNumbers(dir: string): Promise<void> {
    const pair = { tokens: Int32Array.of(1), features: new Float32Array(this.info.featureWidth).fill(1) };
    checkHeadComputesNumbers(dir, (await this.createRows().draft(pair, TWO_TOKENS)).logProbs);
  }
}

function multiplicationsPerPair(head: RecurrentHead): number {
  const { linear } = head.kind === 'eagle3' ? head.projection : head.fusion;
  const { q, k, v } = head.weights;
  return [linear, q, k, v].reduce((sum, { weight }) => sum + elementCount(weight.shape), 0);
}
