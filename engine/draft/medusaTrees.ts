/** A node of a tree whose shape does not depend on what is drafted. */
export interface TreeChoice {
  /** Index of the parent's choice, or ROOT. */
  readonly parent: number;
  /** Head that predicts the node: its depth, from 0. */
  readonly head: number;
  /** Its place among the head's candidates. */
  readonly rank: number;
}

/**
 * Trees that were published with Medusa (FasterDecoding/Medusa, medusa/model/medusa_choices.py), chosen there by the heads'
 * accuracies on held-out text: every path is the digits of its nodes' ranks.
 */
const published = {
  mc_sim_7b_63:
    '0 1 2 3 4 5 6 7 8 9 00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 20 21 22 30 31 40 50 60 70 80 90 ' +
    '000 001 002 003 004 005 006 007 008 009 010 011 012 020 021 030 040 050 060 070 100 101 200 0000 0001',
  vicuna_7b_stage2:
    '0 1 2 3 4 5 6 7 8 9 00 01 02 03 04 05 06 07 08 09 10 11 12 13 14 20 21 30 31 40 50 60 70 ' +
    '000 001 002 003 004 005 006 007 008 010 011 012 013 020 021 030 040 050 100 101 102 110 200 ' +
    '0000 0001 0002 0003 0010 0020 0100',
} as const;

export type MedusaTree = keyof typeof published;
export const medusaTrees = Object.keys(published) as readonly MedusaTree[];

/** The nodes level by level, so parents before their children. */
export function treeChoices(tree: MedusaTree): readonly TreeChoice[] {
  const paths = published[tree].split(' ');
  return paths.map((path) => ({
    parent: paths.indexOf(path.slice(0, -1)),
    head: path.length - 1,
    rank: Number(path.at(-1)),
  }));
}
