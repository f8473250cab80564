import { planContenders } from '../benchmark/contenders.ts';
import { inTurn } from '../benchmark/inTurn.ts';
import { Targets } from '../benchmark/targets.ts';
import { mostThreads } from '../config.ts';
import { SlipstreamError } from '../errors.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import type { Algorithm } from '../protocol.ts';
import { seededRandom } from '../seededRandom.ts';
import type { SpeculationPlan } from '../speculation/speculationPlan.ts';
import { heldOutWorkspaces } from './benchWorkspace.ts';
import { openContestants, type SpeculationBench } from './contestants.ts';
import type { BenchContext } from './context.ts';
import { PEER_VERSION } from './peer/installPeer.ts';
import type { Peer, PeerSetup } from './peer/llamaCpp.ts';
import { startPeerAtItsBest } from './peer/peerAtItsBest.ts';
import { type EntrantName, type EntrantText, NEW_TOKENS, ourEntrant, peerEntrant } from './peerEntrants.ts';
import { type PeerComparison, peerFaults, peerFigures } from './peerFigures.ts';
import type { Section } from './report.ts';
import type { TaskPlan } from './runTasks.ts';
import { taskPrompt } from './taskPrompt.ts';
import { sampleTasks } from './tasks.ts';

const algorithms: readonly Algorithm[] = ['ngram', 'standalone', 'auto'];
/** Of the peer's setups: with more threads than free cores a token can take a second, so not many tokens of each. */
const TRIAL_TOKENS = 16;
const TRIALS = 3;

/** Our drafting beside node-llama-cpp's own, on the same weights and tasks, each over node-llama-cpp's plain decoding. */
export async function measurePeer(context: BenchContext): Promise<Section> {
  const { modelDir, cacheDir, seed } = context;
  const targets = new Targets(modelDir, { device: 'cpu', cacheDir, threads: mostThreads, log: () => {} });
  try {
    const { plans } = await planContenders(modelDir, { algorithms, speculation: {} });
    const bench: SpeculationBench = { plans, targets, cacheDir };
    const taskPlans = await planTasks(context);
    const runtime = await targets.load(plans[0]);
    const { peers, dispose } = await startPeer(context, runtime, draftModelOf(plans), taskPlans);
    try {
      const [{ workspace, tasks }] = taskPlans;
      await compareAll(bench, peers, [{ workspace, tasks: tasks.slice(0, 1) }], () => {}); // warm-up
      const comparisons = await compareAll(bench, peers, taskPlans, context.progress);
      return {
        title: `Speculation beside node-llama-cpp ${PEER_VERSION}: each over its plain decoding, ${NEW_TOKENS} greedy tokens [95 % interval over tasks]`,
        figures: peerFigures(comparisons, seed),
        notes: notes(peers),
        faults: peerFaults(comparisons),
        details: {
          newTokens: NEW_TOKENS,
          setups: peers.map(({ setup }) => setup),
          runs: comparisons.flatMap(details),
        },
      };
    } finally {
      await dispose();
    }
  } finally {
    await targets.dispose();
  }
}

async function planTasks({ seed, tasksPerClass }: BenchContext): Promise<TaskPlan[]> {
  const random = seededRandom(seed);
  return (await heldOutWorkspaces()).map((workspace) => ({
    workspace,
    tasks: sampleTasks(workspace, tasksPerClass, random),
  }));
}

/** Both sides draft with the same one. */
function draftModelOf(plans: readonly SpeculationPlan[]): string {
  for (const { drafting } of plans) {
    if (drafting.kind === 'trained' && drafting.trained.kind === 'draftModel') return drafting.trained.dir;
  }
  throw new SlipstreamError(
    'usage',
    'The comparison needs a draft model in the folder heads/draft of the model.',
  );
}

function startPeer(
  { modelDir, cacheDir, progress }: BenchContext,
  runtime: ModelRuntime,
  draftModelDir: string,
  taskPlans: readonly TaskPlan[],
) {
  progress('peer: trying its setups');
  const { contextLength: contextSize } = runtime.model.info;
  const tasks = taskPlans.slice(0, TRIALS).map(({ tasks }) => tasks[0]);
  const prompts = tasks.map((task) => taskPrompt(runtime, task, NEW_TOKENS).tokens);
  return startPeerAtItsBest(
    { modelDir, draftModelDir, contextSize, cacheDir },
    { prompts, count: TRIAL_TOKENS },
  );
}

/** Every task by everyone, one right after the other, so that what disturbs the machine disturbs all of them. */
async function compareAll(
  bench: SpeculationBench,
  peers: readonly Peer[],
  taskPlans: readonly TaskPlan[],
  progress: BenchContext['progress'],
): Promise<PeerComparison[]> {
  const comparisons: PeerComparison[] = [];
  for (const { workspace, tasks } of taskPlans) {
    const { contestants, index, dispose } = await openContestants(bench, workspace);
    const entrants = [...contestants.map(ourEntrant), ...peers.map(peerEntrant)];
    for (const [turn, task] of tasks.entries()) {
      progress(`peer: ${workspace.name} ${turn + 1}/${tasks.length}`);
      const prompt = taskPrompt(contestants[0].runtime, task, NEW_TOKENS);
      const texts = new Map<EntrantName, EntrantText>();
      index.holdOut(task.path, task.before + task.after);
      for (const { name, write } of inTurn(entrants, turn)) texts.set(name, await write(prompt));
      index.restore(task.path);
      comparisons.push({ task, texts });
    }
    await dispose();
  }
  return comparisons;
}

function notes(peers: readonly Peer[]): string[] {
  return [
    `node-llama-cpp, each with the fastest of its setups in a short trial: ${peers.map(({ setup }) => setupText(setup)).join('; ')}.`,
    'Both sides have evaluated the prompt but its last token when the clock starts, and write past end tokens: ours is given',
    'none, node-llama-cpp yields them (yieldEogToken). "Equal": before the first difference to its plain decoding.',
    'Its lookup searches what it is given as input, which is the prompt, as in its own completions: neither what is being written',
    'nor other files, which ngram and auto have. It takes one predictor a sequence, and that predicts a chain: it has',
    'no trees, no EAGLE or Medusa heads and no blend to set beside auto. Its draft model runs beside its passes,',
    'which take what is drafted by then: where a pass is short, nothing. Waiting for drafts (minTokens) is not measured: trials',
    'of it did not end within minutes.',
  ];
}

function setupText({ precision, threads, drafting }: PeerSetup): string {
  return `${draftingText(drafting)} ${precision} on ${threads} thread${threads === 1 ? '' : 's'}`;
}

function draftingText(drafting: PeerSetup['drafting']): string {
  switch (drafting?.kind) {
    case undefined:
      return 'plain';
    case 'lookup':
      return `lookup of up to ${drafting.maxTokens} tokens,`;
    case 'draftModel':
      return `draft model, at least ${drafting.minTokens} tokens of at least ${drafting.minConfidence} probability,`;
  }
}

function details({ task, texts }: PeerComparison) {
  const { workspace, path, line, taskClass } = task;
  return [...texts].map(([entrant, text]) => ({ workspace, path, line, taskClass, entrant, ...text }));
}
