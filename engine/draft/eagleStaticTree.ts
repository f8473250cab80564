/** A tree of fixed shape, in terms of what a head drafts level by level (DraftCandidates). */
export interface StaticTree {
  readonly levels: number;
  readonly width: number;
  /** TreeLimits.expand. Where fewer nodes than the width have children, the first one stands in, for nothing. */
  readonly expand: Int32Array; // [levels * width]
  /** The candidates that are the tree's nodes, ascending. */
  readonly nodes: readonly number[];
}

/** The nodes by level. Each is its path: the ranks among siblings, by the head's probability, from the root down to it. */
const LEVELS = [
  ['0', '1', '2', '3'],
  ['00', '01', '02', '10', '11', '20', '21', '30'],
  ['000', '001', '002', '010', '011', '020', '021', '100'],
  ['0000', '0001', '0002'],
  ['00000', '00001'],
];

/** The static tree of EAGLE-1 (SafeAILab/EAGLE, eagle/model/choices.py: `mc_sim_7b_63`). */
export const eagleStaticTree: StaticTree = layOut(LEVELS);

function layOut(levels: readonly (readonly string[])[]): StaticTree {
  const parents = levels.map((_, level) => [...new Set((levels[level + 1] ?? []).map(parentOf))]);
  const width = Math.max(
    ...parents.map(({ length }) => length),
    ...levels.flat().map((path) => 1 + rankOf(path)),
  );
  const expand = new Int32Array(levels.length * width);
  const nodes: number[] = [];
  for (const [level, paths] of levels.entries()) {
    // The children of the first parent come first.
    const placeOf = (path: string) =>
      level === 0 ? rankOf(path) : width * parents[level - 1].indexOf(parentOf(path)) + rankOf(path);
    expand.set(parents[level].map(placeOf), level * width);
    const start = level === 0 ? 0 : width + (level - 1) * width * width;
    nodes.push(...paths.map((path) => start + placeOf(path)));
  }
  return { levels: levels.length, width, expand, nodes };
}

function parentOf(path: string): string {
  return path.slice(0, -1);
}

function rankOf(path: string): number {
  return Number(path.at(-1));
}
