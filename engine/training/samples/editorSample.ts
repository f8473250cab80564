import type { Tokenizer } from '../../model/tokenizer.ts';
import { type EditPoint, editPointAt, textBefore } from '../../text/editPoint.ts';
import { chooseFimFormat, type FimFormat } from '../../text/fimFormat.ts';
import { holeOf } from '../../text/hole.ts';
import { buildPrompt } from '../../text/prompt.ts';
import { type PromptBudget, splitPromptBudget, suitablePrompt } from '../../text/promptBudget.ts';
import { SnippetChooser } from '../../text/snippets.ts';
import type { CorpusDocument } from '../corpus/document.ts';
import type { PackageContext } from './packageContext.ts';
import type { Span } from './span.ts';

/**
 * Samples that are what the editor asks, to the token: the engine's own prompt for a document with a gap, with the
 * pieces of the package that the engine would choose, and then what really stands there.
 */
export class EditorSamples {
  readonly #tokenizer: Tokenizer;
  readonly #format: FimFormat;
  readonly #budget: PromptBudget;
  readonly #longest: number;

  /** @param longest tokens of a sample, the end token included */
  constructor(tokenizer: Tokenizer, longest: number) {
    this.#tokenizer = tokenizer;
    this.#format = chooseFimFormat(tokenizer);
    this.#budget = splitPromptBudget(suitablePrompt(longest - 1));
    this.#longest = longest;
  }

  /** @returns undefined where the missing text is too long for a suggestion */
  build(
    context: PackageContext,
    document: CorpusDocument,
    span: Span,
    endOfText: number,
  ): number[] | undefined {
    const { path, text } = document;
    const point = pointOf(text, span);
    const { tokens } = buildPrompt({
      tokenizer: this.#tokenizer,
      format: this.#format,
      budget: this.#budget,
      point,
      path,
      context: [],
      workspace: context.at(path, textBefore(point)),
      snippets: new SnippetChooser(),
    });
    const sample = [...tokens, ...this.#tokenizer.encode(missingText(point, text, span)), endOfText];
    return sample.length <= this.#longest ? sample : undefined;
  }
}

function pointOf(text: string, { start, end }: Span): EditPoint {
  const line = text.slice(0, start).split('\n').length - 1;
  return editPointAt(text.slice(0, start) + text.slice(end), start, line);
}

/** More than the span: the engine leaves the indentation of an empty line, and closers up to its end, to the model. */
function missingText(point: EditPoint, text: string, { end }: Span): string {
  const { prefixEnd, suffixStart } = holeOf(point);
  return text.slice(prefixEnd, end + suffixStart - point.offset);
}
