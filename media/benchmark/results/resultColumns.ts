import type { AlgorithmResult, OutputDifference } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import { taskClassNames } from '../../../extension/benchmark/reportNames.ts';
import { type SameText, sameText } from '../../../extension/benchmark/sameText.ts';
import { mebibytes, milliseconds, percent, times, whole } from '../numbers.ts';

export interface ResultColumn {
  readonly id: string;
  readonly title: string;
  /** What it is, for those who ask. */
  readonly about: string;
  readonly text: (result: AlgorithmResult, differences: readonly OutputDifference[]) => string;
  /** What it is sorted by. */
  readonly value: (result: AlgorithmResult) => number | string;
}

const number = (
  id: string,
  title: string,
  about: string,
  value: (result: AlgorithmResult) => number,
  format: (value: number) => string,
): ResultColumn => ({ id, title, about, value, text: (result) => format(value(result)) });

const className = ({ task_class }: AlgorithmResult) =>
  task_class === 'all' ? 'All places' : taskClassNames[task_class];

const sameTextNames: Readonly<Record<SameText, string>> = {
  yes: 'yes',
  'near-ties': 'but for near-ties',
  no: 'NO',
};

const twoDigits = (value: number) => value.toFixed(2);

/** Of the results table, the first two of which name the row. */
export const resultColumns: readonly ResultColumn[] = [
  {
    id: 'class',
    title: 'Places',
    about: 'The kind of place that was completed',
    text: className,
    value: className,
  },
  {
    id: 'algorithm',
    title: 'Algorithm',
    about: 'What drafted',
    text: ({ algorithm }) => algorithmNames[algorithm],
    value: ({ algorithm }) => algorithmNames[algorithm],
  },
  number('tasks', 'Number', 'Places completed', (result) => result.tasks, whole),
  number('speed', 'Tokens/s', 'Of decoding alone', (result) => result.tokens_per_s, whole),
  {
    ...number(
      'speedup',
      'Speed-up',
      'Over plain decoding, with the 95 % interval',
      (result) => result.speedup,
      times,
    ),
    text: ({ algorithm, speedup, speedup_ci: [low, high] }) =>
      algorithm === 'none' ? times(speedup) : `${times(speedup)} [${twoDigits(low)}, ${twoDigits(high)}]`,
  },
  number(
    'length',
    'Acceptance length',
    "Mean tokens a drafted step, the model's own included",
    (result) => result.mean_acceptance_length,
    twoDigits,
  ),
  number(
    'rate',
    'Accepted',
    'Share of the drafted tokens that were accepted',
    (result) => result.acceptance_rate,
    percent,
  ),
  number(
    'ttft',
    'First token p50',
    'From the request to the first token',
    (result) => result.ttft_ms.p50,
    milliseconds,
  ),
  number(
    'p50',
    'Suggestion p50',
    'From the request to the whole suggestion',
    (result) => result.latency_ms.p50,
    milliseconds,
  ),
  number(
    'p90',
    'p90',
    'From the request to the whole suggestion',
    (result) => result.latency_ms.p90,
    milliseconds,
  ),
  number(
    'p99',
    'p99',
    'From the request to the whole suggestion',
    (result) => result.latency_ms.p99,
    milliseconds,
  ),
  number('draft', 'Draft a step', 'Mean time to draft', (result) => result.draft_ms, milliseconds),
  number(
    'verify',
    'Verify a step',
    "Mean time of the model's pass, the verification and the commit",
    (result) => result.verify_ms,
    milliseconds,
  ),
  number(
    'prefilled',
    'Prefilled',
    'Prompt tokens evaluated a place: the others were there',
    (result) => result.prefilled_tokens,
    (value) => value.toFixed(1),
  ),
  number('exact', 'Exact', 'Suggestions that are the real text', (result) => result.exact_match, percent),
  number(
    'similar',
    'Similar',
    'Mean likeness with the real text',
    (result) => result.edit_similarity,
    percent,
  ),
  number(
    'memory',
    'Extra memory',
    'Beside what plain decoding holds, the index of the workspace apart',
    (result) => result.extra_memory_bytes,
    mebibytes,
  ),
  number(
    'efficiency',
    'Efficiency',
    "The speed-up over the one that the accepted tokens allow by this machine's cost table",
    (result) => result.efficiency,
    percent,
  ),
  {
    id: 'lossless',
    title: 'Same text',
    about: "Every text is plain decoding's; on a graphics processor a near-tie may fall either way",
    text: (result, differences) => sameTextNames[sameText(result, differences)],
    value: ({ lossless }) => Number(lossless),
  },
];

export const isColumn = (id: string) => resultColumns.some((column) => column.id === id);
