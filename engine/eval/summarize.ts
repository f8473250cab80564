import { type Estimate, meanEstimate } from '../benchmark/statistics.ts';
import { seededRandom } from '../seededRandom.ts';
import type { CompletedTask } from './completeTask.ts';
import type { EvalResult, Interval, ResultKind } from './evalReport.ts';
import { type EvalTask, maskKinds } from './evalTask.ts';
import type { Score } from './score.ts';

export interface ScoredTask extends CompletedTask {
  readonly score: Score;
}

const resultKinds: readonly ResultKind[] = ['all', 'single_line', ...maskKinds];

/** All tasks first, then by kind, by language, and by both; nothing for what has no tasks. */
export function summarize(scored: readonly ScoredTask[], seed: number): EvalResult[] {
  const languages = [...new Set(scored.map(({ task }) => task.language))].sort();
  return (['all', ...languages] as const).flatMap((language) =>
    resultKinds.flatMap((kind) => {
      const chosen = scored.filter(
        ({ task }) => (language === 'all' || task.language === language) && isOfKind(task, kind),
      );
      return chosen.length === 0 ? [] : [{ language, kind, ...measures(chosen, seed) }];
    }),
  );
}

function isOfKind(task: EvalTask, kind: ResultKind): boolean {
  if (kind === 'single_line') return task.kind !== 'block';
  return kind === 'all' || task.kind === kind;
}

function measures(scored: readonly ScoredTask[], seed: number): Omit<EvalResult, 'language' | 'kind'> {
  const estimate = (values: readonly number[]) => meanEstimate(values, seededRandom(seed));
  const scores = scored.map(({ score }) => score);
  const parses = scores.flatMap((one) => (one.parses === undefined ? [] : [one.parses]));
  const exactMatch = estimate(scores.map((one) => one.exactMatch));
  const similarity = estimate(scores.map((one) => one.editSimilarity));
  const firstLineMatch = estimate(scores.map((one) => one.firstLineMatch));
  const parseRate = parses.length === 0 ? undefined : estimate(parses);
  return {
    n: scores.length,
    shown: parses.length / scores.length,
    exact_match: exactMatch.value,
    exact_match_ci: interval(exactMatch),
    edit_similarity: similarity.value,
    edit_similarity_ci: interval(similarity),
    first_line_match: firstLineMatch.value,
    first_line_match_ci: interval(firstLineMatch),
    parse_rate: parseRate?.value ?? null,
    parse_rate_ci: parseRate ? interval(parseRate) : null,
  };
}

const interval = ({ low, high }: Estimate): Interval => [low, high];
