import { html, type TemplateResult } from 'lit-html';
import type { CompletionTrace, TraceStep } from '../../../engine/protocol.ts';
import { sourceClass } from '../sources.ts';

/** The code as it grows: what was there, what is written, and unseen what is to come, so that nothing moves. */
export function textSoFar({ before, steps }: CompletionTrace, done: number): TemplateResult {
  const written = steps.slice(0, done);
  const toCome = steps.slice(done).map(({ text }) => text);
  return html`<pre class="timeline-text" tabindex="0" role="region" aria-label="The code so far"><span class="text-before">${before.replace(/^\n+/, '')}</span>${written.map(
    (step, i) => html`<span class="text-step ${i === done - 1 ? 'is-newest' : ''}">${stepText(step)}</span>`,
  )}<span class="text-cursor"></span><span class="text-to-come" aria-hidden="true">${toCome.join('')}</span></pre>`;
}

/** Token by token, each by its source; whole where characters lie across tokens. */
function stepText({ drafted, bonus, text }: TraceStep): TemplateResult | TemplateResult[] {
  const tokens = [
    ...drafted
      .filter(({ outcome }) => outcome === 'accepted')
      .map((node) => ({ text: node.text, className: sourceClass(node.source) })),
    ...(bonus ? [{ text: bonus.text, className: 'source-target' }] : []),
  ];
  if (tokens.map((token) => token.text).join('') !== text) return html`<span class="token">${text}</span>`;
  return tokens.map((token) => tokenText(token.text, token.className));
}

/** Indentation is not coloured: it would look like a bar. */
function tokenText(text: string, className: string): TemplateResult {
  const [, space, rest] = /^(\s*)(.*)$/s.exec(text)!;
  return html`${space}${rest === '' ? '' : html`<span class="token ${className}">${rest}</span>`}`;
}
