import type { DraftController, StepOutcome } from '../decode/controller.ts';
import type { Drafter, SessionView, Verdict } from '../draft/drafter.ts';
import type { Proposal } from '../draft/proposal.ts';
import { type CostTable, passMs } from '../model/costTable.ts';
import type { TokenTree } from '../tree/tokenTree.ts';

/** A clock that stands still but for what is said to take time: the same decisions, and the same result, in every run. */
export class TableClock {
  ms = 0;
}

/** What runs of a learned drafter take, by the nodes that they are asked for. */
export type DraftTimes = ReadonlyMap<number, number>;

/** Takes the time that its runs took when they were measured. */
export class TimedDrafter implements Drafter {
  readonly name: string;
  readonly #drafter: Drafter;
  readonly #times: DraftTimes;
  readonly #clock: TableClock;

  constructor(drafter: Drafter, times: DraftTimes, clock: TableClock) {
    this.name = drafter.name;
    this.#drafter = drafter;
    this.#times = times;
    this.#clock = clock;
  }

  get bytes(): number {
    return this.#drafter.bytes;
  }

  propose(view: SessionView, budget: number): Proposal | Promise<Proposal> {
    const measured = [...this.#times].filter(([nodes]) => nodes <= budget);
    this.#clock.ms += measured[measured.length - 1][1];
    return this.#drafter.propose(view, budget);
  }

  observe(verdict: Verdict): void {
    this.#drafter.observe(verdict);
  }

  dispose(): void {}
}

/** Drafts and passes take what the table and the clock say, for the controller and in the sum. */
export class TimedController implements DraftController {
  /** Of all steps so far. */
  totalMs = 0;
  readonly #controller: DraftController;
  readonly #table: CostTable;
  readonly #clock: TableClock;
  readonly #freeMs: number;
  #askedAtMs = 0;

  /** @param freeMs what a draft takes beside the runs of a learned drafter */
  constructor(controller: DraftController, table: CostTable, clock: TableClock, freeMs: number) {
    this.#controller = controller;
    this.#table = table;
    this.#clock = clock;
    this.#freeMs = freeMs;
  }

  budget(): number {
    this.#askedAtMs = this.#clock.ms;
    return this.#controller.budget();
  }

  choose(...[tree, place]: Parameters<DraftController['choose']>): TokenTree {
    return this.#controller.choose(tree, { ...place, draftMs: this.#draftMs });
  }

  observe(step: StepOutcome): void {
    const tableMs = passMs(this.#table, step.nodes, step.context);
    const draftMs = step.drafting === 'notAsked' ? 0 : this.#draftMs;
    this.totalMs += tableMs + draftMs;
    this.#controller.observe({ ...step, draftMs, passMs: tableMs });
  }

  get #draftMs(): number {
    return this.#freeMs + this.#clock.ms - this.#askedAtMs;
  }
}
