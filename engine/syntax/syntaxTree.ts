import type { Node } from 'web-tree-sitter';

/** UTF-16 units into the text that was parsed. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The tree of one text, as long as `Syntax.parse` holds it. */
export class SyntaxTree {
  readonly root: Node;

  constructor(root: Node) {
    this.root = root;
  }

  /** How many places the parser had to repair: tokens it left out (ERROR) or made up (MISSING). */
  countProblems(): number {
    return countProblems(this.root);
  }

  /** In the order of the text. */
  nodesOfType(types: readonly string[]): Node[] {
    return this.root.descendantsOfType([...types]);
  }
}

function countProblems(node: Node): number {
  if (!node.hasError) return 0;
  const own = node.isError || node.isMissing ? 1 : 0;
  return node.children.reduce((sum, child) => sum + countProblems(child), own);
}
