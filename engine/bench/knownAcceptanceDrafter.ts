import type { Drafter, SessionView, Verdict } from '../draft/drafter.ts';
import { type Proposal, treeOf } from '../draft/proposal.ts';
import { ROOT, type TokenTree } from '../tree/tokenTree.ts';
import { TokenTreeBuilder } from '../tree/tokenTreeBuilder.ts';

/** How good the drafts are to be. */
export interface KnownAcceptance {
  /** What the target will write after the prompt. */
  readonly text: readonly number[];
  /** P(a drafted token is right | those before it are). */
  readonly acceptance: number;
  readonly levels: number;
  readonly random: () => number;
}

/** Costs what another drafter costs, and is as good as is asked for: chains of the target's own text with mistakes. */
export class KnownAcceptanceDrafter implements Drafter {
  readonly name = 'knownAcceptance';
  readonly #costly: Drafter;
  readonly #known: KnownAcceptance;

  constructor(costly: Drafter, known: KnownAcceptance) {
    this.#costly = costly;
    this.#known = known;
  }

  get bytes(): number {
    return this.#costly.bytes;
  }

  async propose(view: SessionView, budget: number): Promise<Proposal> {
    const proposal = await this.#costly.propose(view, budget);
    const { size } = treeOf(proposal);
    return size === 0
      ? proposal
      : this.#chain(view.tokens.length - view.promptLength, Math.min(size, budget));
  }

  observe(verdict: Verdict): void {
    this.#costly.observe(verdict);
  }

  dispose(): void {}

  #chain(written: number, budget: number): TokenTree {
    const { text, acceptance, levels, random } = this.#known;
    const builder = new TokenTreeBuilder();
    let parent = ROOT;
    for (const token of text.slice(written, written + Math.min(levels, budget))) {
      // Any other token is a mistake.
      const drafted = random() < acceptance ? token : token === 0 ? 1 : token - 1;
      parent = builder.add(parent, drafted, Math.log(acceptance), 'eagle3');
    }
    return builder.build(budget);
  }
}
