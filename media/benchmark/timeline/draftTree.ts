import { html, nothing, type TemplateResult } from 'lit-html';
import type { TokenFacts, TraceNode, TraceStep } from '../../../engine/protocol.ts';
import { sourceNames } from '../../../extension/benchmark/reportNames.ts';
import { percent } from '../numbers.ts';
import { sourceClass } from '../sources.ts';
import { visible } from './tokenText.ts';

const outcomes: Readonly<Record<TraceNode['outcome'], string>> = {
  accepted: 'accepted',
  rejected: 'rejected',
  unused: 'accepted, but the text had ended',
};

/** What a step drafted, as a tree that grows to the right, and the token that the target added. */
export function draftTree({ drafted, bonus }: TraceStep): TemplateResult {
  const lastAccepted = drafted.findLastIndex(({ outcome }) => outcome === 'accepted');
  const level = (parent: number): TemplateResult | typeof nothing => {
    const children = childrenOf(drafted, parent);
    const endsHere = bonus !== null && parent === lastAccepted;
    if (children.length === 0 && !endsHere) return nothing;
    return html`
      <ul>
        ${endsHere ? html`<li>${bonusToken(bonus)}</li>` : nothing}
        ${children.map((node) => html`<li>${draftedToken(drafted[node])}${level(node)}</li>`)}
      </ul>
    `;
  };
  return html`<div class="draft-tree" tabindex="0" role="region" aria-label="Draft of this step">${level(-1)}</div>`;
}

/** The accepted one first, so that the text can be read along the top. */
function childrenOf(drafted: readonly TraceNode[], parent: number): number[] {
  const rank = (node: number) => (drafted[node].outcome === 'rejected' ? 1 : 0);
  return [...drafted.keys()]
    .filter((node) => drafted[node].parent === parent)
    .sort((a, b) => rank(a) - rank(b) || drafted[b].probability - drafted[a].probability);
}

function draftedToken({ text, source, probability, outcome }: TraceNode): TemplateResult {
  const about = `${outcomes[outcome]}; from ${sourceNames[source]}, expected to be accepted with ${percent(probability)}`;
  return html`
    <span class="chip is-${outcome} ${sourceClass(source)}" title=${about}
      ><span class="chip-text">${visible(text)}</span><span class="visually-hidden">: ${about}</span></span>
  `;
}

function bonusToken({ text }: TokenFacts): TemplateResult {
  const about = "the model's own token";
  return html`
    <span class="chip is-bonus source-target" title=${about}
      ><span class="chip-text">${visible(text)}</span><span class="visually-hidden">: ${about}</span></span>
  `;
}
