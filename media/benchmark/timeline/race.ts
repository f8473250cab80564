import { html, nothing, type TemplateResult } from 'lit-html';
import type { CompletionTrace, TraceStep } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import { counted, milliseconds } from '../numbers.ts';
import type { TimelineSelection } from './selection.ts';

/** How far plain decoding was in the time that these steps took. */
export function race({ trace, plain, step }: TimelineSelection): TemplateResult {
  const elapsedMs = sum(trace.steps.slice(0, step).map(stepMs));
  const total = tokensOf(trace.steps);
  const lanes = [
    { name: algorithmNames[trace.algorithm], tokens: tokensOf(trace.steps.slice(0, step)) },
    ...(plain && plain !== trace
      ? [{ name: algorithmNames.none, tokens: tokensWithin(plain, elapsedMs) }]
      : []),
  ];
  return html`
    <div class="race">
      <p class="race-time">After ${milliseconds(elapsedMs)} of decoding</p>
      ${lanes.map(
        ({ name, tokens }) => html`
          <div class="race-lane">
            <span class="race-name">${name}</span>
            <progress max=${total} .value=${tokens} aria-label="${name}: tokens written"></progress>
            <span class="race-figure">${counted(tokens, 'token')}</span>
          </div>
        `,
      )}
      ${lanes.length > 1 ? nothing : html`<p class="hint">Choose another algorithm to see it run against this one.</p>`}
    </div>
  `;
}

const stepMs = ({ draft_ms, verify_ms }: TraceStep) => draft_ms + verify_ms;

/** Written tokens: what was accepted and used, and the target's own. */
const tokensOf = (steps: readonly TraceStep[]) =>
  sum(
    steps.map(
      ({ drafted, bonus }) =>
        drafted.filter(({ outcome }) => outcome === 'accepted').length + (bonus ? 1 : 0),
    ),
  );

function tokensWithin({ steps }: CompletionTrace, ms: number): number {
  let elapsedMs = 0;
  const finished = steps.findIndex((step) => {
    elapsedMs += stepMs(step);
    return elapsedMs > ms;
  });
  return tokensOf(finished < 0 ? steps : steps.slice(0, finished));
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);
