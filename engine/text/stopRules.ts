import { type EditPoint, lineBefore, lineGiven } from './editPoint.ts';
import { indentationWidth, isBlank, linesBelow } from './lines.ts';
import { type SuggestionShape, suggestionShape } from './suggestionShape.ts';

/** `line`: its end; `block`: the end of the indented block; `suffix`: what follows began to be repeated. */
export type TextStop = 'line' | 'block' | 'suffix';

/** Watches what the model writes, from `writtenFrom` on, and says when a suggestion is complete. */
export interface StopRules {
  /** @returns why to stop, once; what `text` then holds is the suggestion */
  push(delta: string): TextStop | undefined;
  readonly text: string;
}

export function createStopRules(point: EditPoint, tabSize: number): StopRules {
  const shape = suggestionShape(point, tabSize);
  return shape === 'line' ? new LineRules() : new BlockRules(point, shape, tabSize);
}

class LineRules implements StopRules {
  text = '';

  push(delta: string): TextStop | undefined {
    const lineBreak = delta.search(/[\r\n]/u);
    this.text += lineBreak === -1 ? delta : delta.slice(0, lineBreak);
    return lineBreak === -1 ? undefined : 'line';
  }
}

/** Goes on after the block's closing line in the same statement: `} else {`, `except`, the next `case`. */
const goesOn = /^[\s)\]}]*(?:else|elif|elsif|catch|except|finally|rescue|ensure|case|default|when)\b/u;
const opens = /([{([]|=>|:)\s*$/u;
const closes = /^\s*(?:[)\]}]|end\b|fi\b|done\b|<\/)/u;

/** Begins a block at the indentation of the line that opens it: a brace of its own, a list in YAML, a section of a class. */
const beginsBlock = /^\s*(?:\{\s*$|-(?:\s|$)|(?:public|protected|private)\s*:?\s*$)/u;

/** Not yet known to be `else` or `end`. */
const firstWordUnderWay = /^\s*(?:\p{L}*|<)$/u;

/**
 * Looks at each line when it is complete, and at the last one as soon as its first word shows that it is not
 * part of the block. Lines are judged with the text before the cursor, so that the first one is a whole line too.
 */
class BlockRules implements StopRules {
  text: string;
  readonly #shape: Exclude<SuggestionShape, 'line'>;
  readonly #tabSize: number;
  readonly #next: string | undefined; // the first line below the cursor's that is not blank
  readonly #before: string;
  /** Where the line under way begins in `text`. */
  #lineStart = 0;
  /** The end of the last line worth keeping. */
  #keptEnd = 0;
  #afterBlank = false;
  /** Indentation of the statements, or of the line that opened the block. */
  #base: number;
  #lastWidth: number | undefined;
  #isBlockEmpty = true;

  constructor(point: EditPoint, shape: Exclude<SuggestionShape, 'line'>, tabSize: number) {
    this.text = '';
    this.#shape = shape;
    this.#tabSize = tabSize;
    this.#before = lineGiven(point);
    [this.#next] = linesBelow(point, 1);
    this.#base = this.#widthOf(lineBefore(point));
  }

  push(delta: string): TextStop | undefined {
    this.text += delta.replaceAll('\r', '');
    for (;;) {
      const lineEnd = this.text.indexOf('\n', this.#lineStart);
      const stop = lineEnd === -1 ? this.#judgeStart() : this.#judgeLine(lineEnd);
      if (stop !== undefined) this.text = this.text.slice(0, this.#keptEnd);
      if (stop !== undefined || lineEnd === -1) return stop;
      this.#lineStart = lineEnd + 1;
    }
  }

  #judgeStart(): TextStop | undefined {
    const line = this.#wholeLine(this.text.length);
    return !firstWordUnderWay.test(line) && this.#isOutside(line) ? 'block' : undefined;
  }

  #judgeLine(lineEnd: number): TextStop | undefined {
    const line = this.#wholeLine(lineEnd);
    if (isBlank(line)) return this.#judgeBlank();
    if (this.#isOutside(line)) return 'block';
    if (!this.#isGoingOn && line.trimEnd() === this.#next) return 'suffix';
    const width = this.#widthOf(line);
    const closesBlock = this.#shape === 'openedBlock' && !this.#isGoingOn && width <= this.#base;
    // The first of the statements says how far all of them are indented.
    if (this.#shape !== 'openedBlock' && this.#lastWidth === undefined) this.#base = width;
    this.#keptEnd = lineEnd;
    if (!this.#isGoingOn) this.#isBlockEmpty = false;
    if (this.#shape === 'wholeLine') return 'line';
    this.#afterBlank = false;
    this.#lastWidth = width;
    return closesBlock && !goesOn.test(line) && !opens.test(line) ? 'block' : undefined;
  }

  /** A blank line ends statements, unless one of them is still open: then its block goes on. */
  #judgeBlank(): TextStop | undefined {
    this.#afterBlank = true;
    return this.#shape !== 'openedBlock' && this.#lastWidth === this.#base ? 'block' : undefined;
  }

  /** The line belongs to what comes after the block. */
  #isOutside(line: string): boolean {
    if (this.#isGoingOn) return false;
    const width = this.#widthOf(line);
    const isFirst = this.#shape !== 'openedBlock' && this.#lastWidth === undefined;
    // Too little indentation for a first line is a slip, unless it closes the block.
    if (width < this.#base) return !isFirst || closes.test(line) || goesOn.test(line);
    if (width > this.#base) return false;
    if (this.#shape !== 'openedBlock') return this.#afterBlank && this.#lastWidth !== undefined;
    if (this.#isBlockEmpty && beginsBlock.test(line)) return false;
    return !(closes.test(line) || goesOn.test(line));
  }

  /** The line under way is the cursor's, and something stands before the cursor. */
  get #isGoingOn(): boolean {
    return this.#lineStart === 0 && this.#before !== '';
  }

  #wholeLine(end: number): string {
    const line = this.text.slice(this.#lineStart, end);
    return this.#lineStart === 0 ? this.#before + line : line;
  }

  #widthOf(line: string): number {
    return indentationWidth(line, this.#tabSize);
  }
}
