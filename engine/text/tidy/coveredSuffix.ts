import { type EditPoint, lineAfter } from '../editPoint.ts';

const leadingClosers = /^[\s)\]}>"'`;,]*/u;

/**
 * How much of the line after the cursor the text writes again, so that it has to be replaced: closers that the
 * editor put there, or the rest of the line.
 * @returns UTF-16 units from the cursor on
 */
export function coveredSuffix(text: string, point: EditPoint): number {
  const rest = lineAfter(point);
  const closers = leadingClosers.exec(rest)![0];
  return Math.max(restWritten(text, rest), closersWritten(text, closers));
}

/** The text ends with the rest of the line, or has it in the middle. */
function restWritten(text: string, rest: string): number {
  const whole = rest.trim();
  if (whole === '' || leadingClosers.exec(whole)![0] === whole) return 0;
  const at = text.lastIndexOf(whole);
  const startsInWord = /^\w/u.test(whole) && /\w/u.test(text[at - 1] ?? '');
  return at === -1 || startsInWord ? 0 : rest.trimEnd().length;
}

const openers = '([{';
const brackets = ')]}';
const quotes = '"\'`';

/**
 * Reads the text as if it stood at the cursor. A closer that closes nothing in the text closes what was open
 * before the cursor: that is what the editor's own closer was for.
 */
function closersWritten(text: string, closers: string): number {
  let next = nextVisible(closers, 0);
  let written = 0;
  let depth = 0;
  // Right before a quote the cursor stands inside a string.
  let quote = quotes.includes(closers[next] ?? ' ') ? closers[next] : undefined;
  let isOuterQuote = quote !== undefined;
  const cover = (char: string) => {
    if (closers[next] !== char) return;
    written = next + 1;
    next = nextVisible(closers, written);
  };
  for (let i = 0; i < text.length; i++) {
    const char = text[i];
    if (quote !== undefined) {
      if (char === '\\') i++;
      else if (char === '\n' && quote !== '`') quote = undefined;
      else if (char === quote) {
        if (isOuterQuote) cover(char);
        isOuterQuote = false;
        quote = undefined;
      }
    } else if (quotes.includes(char)) {
      quote = char;
    } else if (openers.includes(char)) {
      depth++;
    } else if (depth > 0) {
      if (brackets.includes(char)) depth--;
    } else {
      cover(char);
    }
  }
  return written;
}

/** The next character that is not white space; the end when there is none. */
function nextVisible(closers: string, from: number): number {
  const at = closers.slice(from).search(/\S/u);
  return at === -1 ? closers.length : from + at;
}
