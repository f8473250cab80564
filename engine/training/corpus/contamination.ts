import { shingles } from './shingles.ts';

const NGRAM_TOKENS = 13;
/** Common idioms fill 13 tokens by themselves (a `for` header has 17): a copied file shares far more than this. */
const MAX_SHARED = 0.05;

/** Entry points of HumanEval with names that nobody else uses: a file that defines one holds the benchmark. */
const HUMAN_EVAL_FUNCTION =
  /\bdef (has_close_elements|separate_paren_groups|mean_absolute_deviation|parse_nested_parens|filter_by_substring|how_many_times|find_closest_elements|rescale_to_unit|largest_divisor|parse_music|all_prefixes|string_xor|decode_cyclic|triangle_area|will_it_fly|smallest_change|total_match|is_multiply_prime|is_simple_power|hex_key|decimal_to_binary|solve_equation|sorted_list_sum|x_or_y|even_odd_palindrome|minSubArraySum|split_words|max_fill|car_race_collision|correct_bracketing|prime_fib|triples_sum_to_zero)\(/;

/** Knows the evaluation texts by their 13-token runs and tells how much of a training text they cover. */
export class ContaminationCheck {
  readonly #ngrams = new Set<number>();

  addEvaluationText(text: string): void {
    for (const ngram of shingles(text, NGRAM_TOKENS)) this.#ngrams.add(ngram);
  }

  /** The share of the text's 13-grams that occur in an evaluation text, 0..1. */
  overlap(text: string): number {
    const ngrams = shingles(text, NGRAM_TOKENS);
    if (ngrams.length === 0) return 0;
    return ngrams.reduce((count, ngram) => count + (this.#ngrams.has(ngram) ? 1 : 0), 0) / ngrams.length;
  }

  isContaminated(text: string): boolean {
    return HUMAN_EVAL_FUNCTION.test(text) || this.overlap(text) > MAX_SHARED;
  }
}
