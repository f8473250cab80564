import type { Node } from 'web-tree-sitter';
import type { Syntax } from '../syntax/syntax.ts';
import type { Span, SyntaxTree } from '../syntax/syntaxTree.ts';
import type { MaskKind } from './evalTask.ts';

/** What can be held out of one text, by kind. For `line_rest` the lines that can be cut somewhere. */
export type MaskedSpans = Readonly<Record<MaskKind, readonly Span[]>>;

/** Longer blocks are hardly ever guessed word for word, and no suggestion is as long. */
const MOST_BLOCK_LINES = 12;
const MOST_CHARACTERS = 400;
const LEAST_CHARACTERS = 3;

const blockTypes = [
  'block',
  'body_statement',
  'compound_statement',
  'constructor_body',
  'do_group',
  'statement_block',
];
const argumentTypes = ['argument_list', 'arguments'];
const commentTypes = ['block_comment', 'comment', 'js_comment', 'line_comment'];
const stringTypes = [
  'encapsed_string',
  'heredoc',
  'heredoc_body',
  'raw_string',
  'raw_string_literal',
  'string',
  'string_literal',
  'template_string',
  'text_block',
  'verbatim_string_literal',
];

/** Prose is left out: comments, and lines inside strings of several lines. What is held out says something. */
export function maskedSpans(syntax: Syntax, text: string): MaskedSpans {
  return syntax.parse(text, (tree) => {
    const comments = tree.nodesOfType(commentTypes).map(spanOf);
    const strings = tree.nodesOfType(stringTypes).filter(spansLines).map(spanOf);
    const isCode = (span: Span) => !overlapsAny(span, comments) && isTelling(text, span);
    const lines = lineSpans(text).filter((span) => isCode(span) && !startsInside(span, strings));
    return {
      line_rest: lines.filter(({ start, end }) => isTelling(text, { start: start + 1, end })),
      line: lines,
      block: blockSpans(tree, text).filter(isCode),
      arguments: argumentSpans(tree).filter(isCode),
    };
  });
}

function lineSpans(text: string): Span[] {
  return [...text.matchAll(/\S(?:.*\S)?/gu)].map(({ index, 0: line }) => ({
    start: index,
    end: index + line.length,
  }));
}

/** Statements that begin and end with their lines. */
function blockSpans(tree: SyntaxTree, text: string): Span[] {
  return tree.nodesOfType(blockTypes).flatMap((block) => {
    const [first, last] = [block.firstNamedChild, block.lastNamedChild];
    if (first === null || last === null) return [];
    const span = trimmed(text, { start: first.startIndex, end: last.endIndex });
    const lines = text.slice(span.start, span.end).split('\n').length;
    return lines <= MOST_BLOCK_LINES && isWholeLines(text, span) ? [span] : [];
  });
}

/** A statement may take in the line break after it. */
function trimmed(text: string, { start, end }: Span): Span {
  return { start, end: start + text.slice(start, end).trimEnd().length };
}

function isWholeLines(text: string, { start, end }: Span): boolean {
  const before = text.slice(text.lastIndexOf('\n', start - 1) + 1, start);
  return start > 0 && /^[ \t]+$/u.test(before) && /^[ \t]*\r?(?:\n|$)/u.test(text.slice(end, end + 200));
}

function argumentSpans(tree: SyntaxTree): Span[] {
  return tree
    .nodesOfType(argumentTypes)
    .filter((node) => node.firstChild?.type === '(' && node.lastChild?.type === ')' && !spansLines(node))
    .map(({ startIndex, endIndex }) => ({ start: startIndex + 1, end: endIndex - 1 }));
}

function isTelling(text: string, { start, end }: Span): boolean {
  const length = end - start;
  if (length < LEAST_CHARACTERS || length > MOST_CHARACTERS) return false;
  return /[\p{L}\p{N}]/u.test(text.slice(start, end));
}

const spanOf = ({ startIndex, endIndex }: Node): Span => ({ start: startIndex, end: endIndex });
const spansLines = ({ startPosition, endPosition }: Node) => startPosition.row !== endPosition.row;
const overlapsAny = ({ start, end }: Span, others: readonly Span[]) =>
  others.some((other) => start < other.end && other.start < end);
const startsInside = ({ start }: Span, others: readonly Span[]) =>
  others.some((other) => other.start < start && start < other.end);
