import type { Tokenizer } from '../model/tokenizer.ts';
import type { OutputDifference, TokenFacts } from './benchmarkReport.ts';
import type { Attempt } from './contender.ts';
import { firstDifference } from './firstDifference.ts';
import type { MeasuredTask } from './measure.ts';
import { placeText, tokenFacts } from './reportText.ts';

/** Where an algorithm wrote something else than `none`. */
export function findDifferences(
  measured: readonly MeasuredTask[],
  tokenizer: Tokenizer,
  device: string,
): OutputDifference[] {
  const is_fault = device === 'cpu';
  return measured.flatMap(({ task, attempts }, id) => {
    const plain = attempts.get('none')!;
    return [...attempts.values()].flatMap((attempt) => {
      const position = firstDifference(plain.tokens, attempt.tokens);
      if (position === undefined) return [];
      const expected = tokenAt(plain, position, tokenizer);
      const actual = tokenAt(attempt, position, tokenizer);
      const { algorithm } = attempt;
      const cause =
        `${algorithm} ${wrote(actual)} where plain decoding ${wrote(expected)}: token ${position + 1} of the completion ` +
        `at ${placeText(task)}.${is_fault ? '' : ' On a GPU this is no fault where the model was near a tie.'}`;
      return [{ task: id, algorithm, position, expected, actual, is_fault, cause }];
    });
  });
}

function tokenAt({ tokens }: Attempt, position: number, tokenizer: Tokenizer): TokenFacts | null {
  return position < tokens.length ? tokenFacts(tokens[position], tokenizer) : null;
}

const wrote = (token: TokenFacts | null) => (token ? `wrote ${JSON.stringify(token.text)}` : 'ended');
