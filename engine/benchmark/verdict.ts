import type { Algorithm } from '../protocol.ts';
import type { AlgorithmResult, OutputDifference } from './benchmarkReport.ts';

const names: Readonly<Record<Algorithm, string>> = {
  auto: 'auto',
  none: 'plain decoding',
  ngram: 'n-gram',
  recycle: 'token recycling',
  nextn: 'NEXTN',
  standalone: 'a draft model',
  eagle: 'EAGLE',
  eagle2: 'EAGLE-2',
  eagle3: 'EAGLE-3',
  medusa: 'Medusa',
};

/** Named beside the chosen one. */
const OTHERS = 3;

/** What to do with the results: the algorithm to choose, and why in a sentence or two. */
export interface Verdict {
  readonly fastest: Algorithm;
  readonly summary: string;
}

export function verdictOn(
  results: readonly AlgorithmResult[],
  differences: readonly OutputDifference[],
): Verdict {
  const faulty = new Set(differences.filter(({ is_fault }) => is_fault).map(({ algorithm }) => algorithm));
  const sound = results.filter(({ task_class, algorithm }) => task_class === 'all' && !faulty.has(algorithm));
  const { fastest, sentence } = judgeSpeed(sound);
  if (faulty.size === 0) return { fastest, summary: sentence };
  const fault = `ERROR: ${listed([...faulty].map((algorithm) => names[algorithm]))} wrote something else than plain decoding; do not use ${faulty.size === 1 ? 'it' : 'them'}.`;
  return { fastest, summary: `${fault} ${sentence}` };
}

/** @param overall one for each algorithm */
function judgeSpeed(overall: readonly AlgorithmResult[]): { fastest: Algorithm; sentence: string } {
  const bySpeed = overall
    .filter(({ algorithm }) => algorithm !== 'none')
    .toSorted((a, b) => b.speedup - a.speedup);
  const [first] = bySpeed;
  if (!first) return { fastest: 'none', sentence: 'Nothing but plain decoding was measured.' };
  const faster = bySpeed.filter(isMeasurablyFaster);
  if (faster.length === 0) return { fastest: 'none', sentence: noneIsFaster(first) };
  const chosen = choose(faster);
  const others = bySpeed.filter((result) => result !== chosen).slice(0, OTHERS);
  const alone = chosen.algorithm === 'auto' ? ' alone' : '';
  const parts = [
    `${names[chosen.algorithm]} is ${times(chosen.speedup)} faster than plain decoding here`,
    ...others.map((result) => `${names[result.algorithm]}${alone} ${measured(result)}`),
  ];
  return { fastest: chosen.algorithm, sentence: `${parts.join('; ')}.` };
}

const isMeasurablyFaster = ({ speedup_ci: [low] }: AlgorithmResult) => low > 1;

/**
 * `auto` unless another one is faster beyond doubt: it goes on choosing as the work changes.
 *
 * @param faster than plain decoding beyond doubt, the fastest first
 */
function choose(faster: readonly AlgorithmResult[]): AlgorithmResult {
  const [best] = faster;
  const auto = faster.find(({ algorithm }) => algorithm === 'auto');
  return auto && auto.speedup_ci[1] >= best.speedup_ci[0] ? auto : best;
}

function measured(result: AlgorithmResult): string {
  const {
    speedup,
    speedup_ci: [low, high],
  } = result;
  const isUncertain = speedup > 1 && !isMeasurablyFaster(result);
  return isUncertain ? `${times(speedup)} (uncertain: ${times(low)} to ${times(high)})` : times(speedup);
}

function noneIsFaster({ algorithm, speedup, speedup_ci: [low, high] }: AlgorithmResult): string {
  const estimate = `${names[algorithm]}, the fastest, ${times(speedup)} with a 95 % interval from ${times(low)} to ${times(high)}`;
  return `No algorithm is measurably faster than plain decoding here (${estimate}).`;
}

const times = (ratio: number) => `${ratio.toFixed(ratio < 1.2 ? 2 : 1)}x`;

function listed(words: readonly string[]): string {
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
}
