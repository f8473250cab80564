import { type CostTable, passMs } from '../model/costTable.ts';

/** How fast the machine's present state (load, clock, heat) is followed, and the table's shape corrected. */
const FOLLOW = 0.1;
const RESHAPE = 0.02;
/** A pass that was interrupted for long says nothing about its cost. */
const LARGEST_STEP = Math.log(3);

/**
 * The time of a pass on this machine now: what was measured at load, corrected by every pass since. One factor follows
 * what slows or speeds all passes; a factor per size repairs what was measured in a bad moment.
 */
export class CostModel {
  readonly #table: CostTable;
  readonly #sizeFactors: Float64Array; // [nodeCount], logarithms
  #factor = 0; // logarithm

  constructor(table: CostTable) {
    this.#table = table;
    this.#sizeFactors = new Float64Array(table.nodeCounts.length);
  }

  /** @param nodes new tokens of the pass */
  passMs(nodes: number, context: number): number {
    return (
      Math.exp(this.#factor + this.#sizeFactors[this.#bucket(nodes)]) * passMs(this.#table, nodes, context)
    );
  }

  /** What a row more adds to a pass over `nodes` tokens, averaged over so many: the time of a pass has steps. */
  rowMs(nodes: number, context: number, rows: number): number {
    return (this.passMs(nodes + rows, context) - this.passMs(nodes, context)) / rows;
  }

  observe(nodes: number, context: number, ms: number): void {
    const error = Math.log(ms / this.passMs(nodes, context));
    const step = Math.max(-LARGEST_STEP, Math.min(LARGEST_STEP, error));
    this.#factor += FOLLOW * step;
    this.#sizeFactors[this.#bucket(nodes)] += RESHAPE * step;
  }

  /** The largest measured size that is not larger. */
  #bucket(nodes: number): number {
    return this.#table.nodeCounts.findLastIndex((count) => count <= nodes);
  }
}
