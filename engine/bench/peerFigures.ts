import { mean } from 'simple-statistics';
import { firstDifference } from '../benchmark/firstDifference.ts';
import { type Pair, speedUp } from '../benchmark/statistics.ts';
import { seededRandom } from '../seededRandom.ts';
import { type EntrantName, type EntrantText, NEW_TOKENS } from './peerEntrants.ts';
import type { Figure } from './report.ts';
import { type BenchTask, taskClasses } from './tasks.ts';

/** One task as each of those compared completed it. */
export interface PeerComparison {
  readonly task: BenchTask;
  readonly texts: ReadonlyMap<EntrantName, EntrantText>;
}

const BASELINE: EntrantName = 'node-llama-cpp plain';
/** What ours have to write, each of them. */
const OURS_PLAIN: EntrantName = 'slipstream none';

/** Each over the peer's plain decoding: over all tasks, then over those of each class. */
export function peerFigures(comparisons: readonly PeerComparison[], seed: number): Figure[] {
  const names = [...comparisons[0].texts.keys()].filter((name) => name !== BASELINE).sort(oursFirst);
  return names.flatMap((name) => [
    figure(name.toUpperCase(), name, comparisons, seed),
    ...taskClasses.flatMap((taskClass) => {
      const own = comparisons.filter(({ task }) => task.taskClass === taskClass);
      return own.length === 0 ? [] : [figure(`  ${taskClass}`, name, own, seed)];
    }),
  ]);
}

const order: readonly EntrantName[] = [
  'slipstream none',
  'slipstream ngram',
  'slipstream standalone',
  'slipstream auto',
  'node-llama-cpp lookup',
  'node-llama-cpp draftModel',
];
const oursFirst = (a: EntrantName, b: EntrantName) => order.indexOf(a) - order.indexOf(b);

function figure(
  title: string,
  name: EntrantName,
  comparisons: readonly PeerComparison[],
  seed: number,
): Figure {
  const pairs = comparisons.map(({ texts }) => ({
    baseline: texts.get(BASELINE)!.decodeMs,
    candidate: texts.get(name)!.decodeMs,
  }));
  return {
    name: title,
    unit: 'x',
    measured: speedUp(pairs, seededRandom(seed)),
    remark: [speedText(pairs), acceptanceText(name, comparisons), agreementText(name, comparisons)].join(
      ', ',
    ),
  };
}

function speedText(pairs: readonly Pair[]): string {
  const perSecond = (side: keyof Pair) =>
    (1000 * NEW_TOKENS * pairs.length) / pairs.reduce((sum, pair) => sum + pair[side], 0);
  return `${perSecond('candidate').toFixed(0)} against ${perSecond('baseline').toFixed(0)} tokens/s`;
}

function acceptanceText(name: EntrantName, comparisons: readonly PeerComparison[]): string {
  const total = (count: 'numDraftTokens' | 'numAcceptedTokens') =>
    comparisons.reduce((sum, { texts }) => sum + texts.get(name)![count], 0);
  const drafted = total('numDraftTokens');
  if (drafted === 0) return 'nothing drafted';
  return `accepted ${((100 * total('numAcceptedTokens')) / drafted).toFixed(0)}% of ${drafted} drafted`;
}

/** Roundings differ, so that a text may part at a near-tie; other weights would part at once. */
function agreementText(name: EntrantName, comparisons: readonly PeerComparison[]): string {
  const equal = comparisons.map(
    ({ texts }) => firstDifference(texts.get(name)!.tokens, texts.get(BASELINE)!.tokens) ?? NEW_TOKENS,
  );
  return `the first ${mean(equal).toFixed(1)} tokens are equal`;
}

/** Ours that write something else than ours without drafts, and whoever did not do the work that was timed. */
export function peerFaults(comparisons: readonly PeerComparison[]): string[] {
  return comparisons.flatMap(({ task, texts }) => {
    const place = `at ${task.workspace}/${task.path}:${task.line}`;
    const plain = texts.get(OURS_PLAIN)!.tokens;
    return [...texts].flatMap(([name, { tokens }]) => {
      if (tokens.length !== NEW_TOKENS) return [`${name} wrote ${tokens.length} tokens ${place}.`];
      const isLossy = name.startsWith('slipstream') && firstDifference(tokens, plain) !== undefined;
      return isLossy ? [`${name} wrote something else than ${OURS_PLAIN} ${place}.`] : [];
    });
  });
}
