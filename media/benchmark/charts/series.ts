import {
  type SymbolType,
  symbol,
  symbolCircle,
  symbolDiamond,
  symbolSquare,
  symbolTriangle,
  symbolTriangle2,
} from 'd3-shape';
import type { Algorithm } from '../../../engine/protocol.ts';

const shapes: readonly SymbolType[] = [
  symbolCircle,
  symbolSquare,
  symbolTriangle,
  symbolDiamond,
  symbolTriangle2,
];
const colours = 6;
const MARKER_AREA = 36;

/** How one algorithm is drawn wherever it stands beside others: by colour and shape, for those who tell no colours. */
export interface Series {
  readonly algorithm: Algorithm;
  /** `series-N`, where charts.css gives it its colour and dashes. */
  readonly className: string;
  /** An SVG path around (0, 0). */
  readonly marker: string;
}

/** @param algorithms all of the report, so that each looks the same in every chart of it */
export function seriesOf(algorithms: readonly Algorithm[]): ReadonlyMap<Algorithm, Series> {
  const drafting = algorithms.filter((algorithm) => algorithm !== 'none');
  const entries = drafting.map((algorithm, i): [Algorithm, Series] => [
    algorithm,
    {
      algorithm,
      className: `series-${i % colours}`,
      marker: symbol(shapes[i % shapes.length], MARKER_AREA)()!,
    },
  ]);
  const plain: Series = {
    algorithm: 'none',
    className: 'series-plain',
    marker: symbol(symbolCircle, MARKER_AREA)()!,
  };
  return new Map([['none', plain], ...entries]);
}
