import { html, svg, type TemplateResult } from 'lit-html';
import type { TraceStep } from '../../../engine/protocol.ts';
import { sourceClass } from '../sources.ts';

const HEIGHT = 72;
const MOST_CELL = 10;

/** Every step as a column of its tokens: what was written upwards, what was rejected below. A click goes there. */
export function stepStrip(
  steps: readonly TraceStep[],
  done: number,
  width: number,
  onPick: (step: number) => void,
): TemplateResult {
  const up = Math.max(...steps.map((step) => written(step).length), 1);
  const down = Math.max(...steps.map((step) => rejected(step).length));
  const cell = Math.min(MOST_CELL, HEIGHT / (up + down));
  const middle = up * cell;
  const height = (up + down) * cell;
  const columnWidth = width / steps.length;
  const gap = columnWidth > 5 ? 2 : columnWidth > 3 ? 1 : 0;
  const cellHeight = cell > 3 ? cell - 1 : cell;
  return html`
    <svg class="step-strip" aria-hidden="true" width=${width} height=${height} viewBox="0 0 ${width} ${height}">
      ${steps.map(
        (step, i) => svg`
          <g class="strip-step ${i < done ? 'is-done' : ''} ${i === done - 1 ? 'is-newest' : ''}"
            transform="translate(${i * columnWidth} 0)" @click=${() => onPick(i + 1)}>
            <rect class="strip-area" width=${columnWidth} height=${height} />
            ${written(step).map(
              (className, k) => svg`
                <rect class="strip-cell ${className}" x="0" y=${middle - (k + 1) * cell} width=${columnWidth - gap} height=${cellHeight} />
              `,
            )}
            ${rejected(step).map(
              (className, k) => svg`
                <rect class="strip-cell is-rejected ${className}" x="0" y=${middle + k * cell + 1} width=${columnWidth - gap} height=${cellHeight} />
              `,
            )}
          </g>
        `,
      )}
    </svg>
  `;
}

const written = ({ drafted, bonus }: TraceStep): string[] => [
  ...drafted.filter(({ outcome }) => outcome === 'accepted').map(({ source }) => sourceClass(source)),
  ...(bonus ? ['source-target'] : []),
];

const rejected = ({ drafted }: TraceStep): string[] =>
  drafted.filter(({ outcome }) => outcome !== 'accepted').map(({ source }) => sourceClass(source));
