import { html, type TemplateResult } from 'lit-html';
import type { TraceNode } from '../../engine/protocol.ts';
import { sourceNames } from '../../extension/benchmark/reportNames.ts';

export type Source = TraceNode['source'];

/** In the order in which they are shown. */
export const sources = Object.keys(sourceNames) as readonly Source[];

/** Trained drafters share a colour: a model has one of them. */
const colourOf: Readonly<Record<Source, string>> = {
  lastSuggestion: 'source-last',
  document: 'source-document',
  workspace: 'source-workspace',
  changedCopy: 'source-changed',
  recycled: 'source-recycled',
  eagle: 'source-trained',
  eagle3: 'source-trained',
  mtp: 'source-trained',
  medusa: 'source-trained',
  draftModel: 'source-trained',
};

/** The class that colours what a source drafted. */
export const sourceClass = (source: Source) => colourOf[source];

/** @param own what the target added itself; under a name of its own in each chart */
export function sourceLegend(shown: readonly Source[], own: string): TemplateResult {
  return html`
    <ul class="legend">
      ${shown.map((source) => html`<li><span class="swatch ${sourceClass(source)}"></span>${sourceNames[source]}</li>`)}
      <li><span class="swatch source-target"></span>${own}</li>
    </ul>
  `;
}
