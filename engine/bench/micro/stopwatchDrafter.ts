import type { Drafter, SessionView, Verdict } from '../../draft/drafter.ts';
import type { WorkspaceText } from '../../draft/ngramSources.ts';
import { type Proposal, treeOf } from '../../draft/proposal.ts';
import type { TokenArray } from '../../workspace/hashChain.ts';
import type { Match } from '../../workspace/matchList.ts';
import { elapsedMs } from './timing.ts';

export interface DraftTime {
  /** The first one of a suggestion: the drafter takes in what is new in the prompt. */
  readonly isFirst: boolean;
  readonly proposeMs: number;
  readonly nodes: number;
}

/** Times another drafter while it works. */
export class StopwatchDrafter implements Drafter {
  readonly name: string;
  readonly drafts: DraftTime[] = [];
  readonly observeMs: number[] = [];
  readonly #drafter: Drafter;
  #session: number | undefined;

  constructor(drafter: Drafter) {
    this.name = drafter.name;
    this.#drafter = drafter;
  }

  get bytes(): number {
    return this.#drafter.bytes;
  }

  async propose(view: SessionView, budget: number): Promise<Proposal> {
    const startedMs = performance.now();
    const proposal = await this.#drafter.propose(view, budget);
    const proposeMs = performance.now() - startedMs;
    this.drafts.push({ isFirst: view.id !== this.#session, proposeMs, nodes: treeOf(proposal).size });
    this.#session = view.id;
    return proposal;
  }

  observe(verdict: Verdict): void {
    this.observeMs.push(elapsedMs(() => this.#drafter.observe(verdict)));
  }

  dispose(): void {
    this.#drafter.dispose();
  }
}

/** Times the workspace's index while it is asked. */
export class StopwatchIndex implements WorkspaceText {
  readonly lookupMs: number[] = [];
  readonly #index: WorkspaceText;

  constructor(index: WorkspaceText) {
    this.#index = index;
  }

  lookup(query: TokenArray): readonly Match[] {
    const startedMs = performance.now();
    const matches = this.#index.lookup(query);
    this.lookupMs.push(performance.now() - startedMs);
    return matches;
  }

  documentOf(match: Match): string | undefined {
    return this.#index.documentOf(match);
  }
}
