import { firstDifference } from '../benchmark/firstDifference.ts';
import { median, type Pair, speedUp } from '../benchmark/statistics.ts';
import { fixedController } from '../decode/controller.ts';
import type { DecodeResult } from '../decode/decoder.ts';
import type { DecodeMetrics } from '../metrics.ts';
import type { ModelRuntime } from '../modelRuntime.ts';
import { seededRandom } from '../seededRandom.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import { heldOutWorkspaces } from './benchWorkspace.ts';
import type { BenchContext } from './context.ts';
import { fastestPeers, peerThreadCounts, plainSetups } from './peer/fastestPeers.ts';
import { PEER_VERSION } from './peer/installPeer.ts';
import { type Peer, type PeerRun, type PeerSetup, startPeers } from './peer/llamaCpp.ts';
import type { Figure, Section } from './report.ts';

const NEW_TOKENS = 128;
const CONTEXTS = { short: 128, long: 1500 } as const;
const PROMPTS = 12;
/** Of the setups, before the best is chosen: with more threads than free cores a token can take a second. */
const TRIAL_TOKENS = 8;
const TRIALS = 5;

interface Comparison {
  readonly ours: DecodeResult;
  readonly peers: readonly {
    readonly setup: PeerSetup;
    readonly run: PeerRun;
    readonly sameTokens: number;
  }[];
}

/** Plain decoding and prefill against node-llama-cpp: the same weights, prompts and number of greedy tokens. */
export async function measurePlainDecoding(runtime: ModelRuntime, context: BenchContext): Promise<Section> {
  const contextSize = CONTEXTS.long + NEW_TOKENS + 1;
  const { peers, dispose } = await startPeers(context.modelDir, plainSetups, contextSize, context.cacheDir);
  try {
    const figures: Figure[] = [];
    const details: Record<string, unknown> = {};
    for (const [name, length] of Object.entries(CONTEXTS)) {
      const prompts = await samplePrompts(runtime, length, context.seed);
      const trial = { prompts: prompts.slice(0, TRIALS), count: TRIAL_TOKENS };
      const best = await fastestPeers(peers, trial, ({ precision }) => precision);
      const comparisons: Comparison[] = [];
      await compare(runtime, best, prompts[0]); // warm-up
      for (const [i, prompt] of prompts.entries()) {
        context.progress(`decode, ${name} context ${i + 1}/${prompts.length}`);
        comparisons.push(await compare(runtime, best, prompt));
      }
      figures.push(...figuresOf(name, comparisons, context.seed));
      details[name] = comparisons.map(comparisonDetails);
    }
    return {
      title: `Plain decoding: ${NEW_TOKENS} greedy tokens after ${CONTEXTS.short} (short) and ${CONTEXTS.long} (long) tokens`,
      figures,
      notes: [
        `Baseline: node-llama-cpp ${PEER_VERSION} with its fastest thread count of ${peerThreadCounts.join(', ')}. Prefill is excluded on both sides.`,
      ],
      faults: [],
      details,
    };
  } finally {
    await dispose();
  }
}

/** Real code, each prompt from another place; without the special tokens of a format, so that nothing ends early. */
async function samplePrompts(
  { tokenizer }: ModelRuntime,
  length: number,
  seed: number,
): Promise<Int32Array[]> {
  const random = seededRandom(seed);
  const texts = (await heldOutWorkspaces()).flatMap(({ documents }) => documents.map(({ text }) => text));
  const long = texts.filter((text) => text.length > 8 * CONTEXTS.long);
  return Array.from({ length: PROMPTS }, () => {
    const tokens = tokenizer.encode(long[Math.floor(random() * long.length)]);
    const start = Math.floor(random() * (tokens.length - length));
    return tokens.slice(start, start + length);
  });
}

async function compare(
  runtime: ModelRuntime,
  peers: readonly Peer[],
  prompt: Int32Array,
): Promise<Comparison> {
  const ours = await generate(runtime, prompt);
  const runs: Comparison['peers'][number][] = [];
  for (const { setup, generate } of peers) {
    const run = await generate(prompt, NEW_TOKENS);
    runs.push({ setup, run, sameTokens: firstDifference(ours.tokens, run.tokens) ?? NEW_TOKENS });
  }
  return { ours, peers: runs };
}

function generate(runtime: ModelRuntime, tokens: Int32Array): Promise<DecodeResult> {
  return runtime.decode(
    { controller: fixedController(0), verifier: greedyVerifier },
    {
      prompt: { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } },
      maxNewTokens: NEW_TOKENS,
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: new AbortController().signal,
    },
  );
}

interface Versus {
  readonly ours: DecodeMetrics;
  readonly theirs: PeerRun;
  readonly sameTokens: number;
}

function figuresOf(context: string, comparisons: readonly Comparison[], seed: number): Figure[] {
  return comparisons[0].peers.flatMap(({ setup }, i) => {
    const versus: Versus[] = comparisons.map(({ ours, peers }) => ({
      ours: ours.metrics,
      theirs: peers[i].run,
      sameTokens: peers[i].sameTokens,
    }));
    const over = `over ${setup.precision} on ${setup.threads} thread${setup.threads === 1 ? '' : 's'}`;
    return [
      decodeFigure(`${context} context, decode ${over}`, versus, seed),
      prefillFigure(`${context} context, prefill ${over}`, versus, seed),
    ];
  });
}

function decodeFigure(name: string, versus: readonly Versus[], seed: number): Figure {
  const pairs = versus.map(({ ours, theirs }) => ({ baseline: theirs.decodeMs, candidate: ours.decodeMs }));
  const same = versus.reduce((sum, { sameTokens }) => sum + sameTokens, 0) / versus.length;
  return {
    name,
    unit: 'x',
    measured: speedUp(pairs, seededRandom(seed)),
    target: { atLeast: 1 },
    remark: `${speeds(pairs, NEW_TOKENS)}, the first ${same.toFixed(0)} tokens are equal`,
  };
}

/** The first of our decoding passes carries the prompt's last few tokens; the time to the first token has them all. */
function prefillFigure(name: string, versus: readonly Versus[], seed: number): Figure {
  const pairs = versus.map(({ ours, theirs }) => ({ baseline: theirs.prefillMs, candidate: ours.ttftMs }));
  const { promptTokens } = versus[0].ours;
  return {
    name,
    unit: 'x',
    measured: speedUp(pairs, seededRandom(seed)),
    remark: speeds(pairs, promptTokens),
  };
}

function speeds(pairs: readonly Pair[], tokens: number): string {
  const perSecond = (side: keyof Pair) => (1000 * tokens) / median(pairs.map((pair) => pair[side]));
  return `${perSecond('candidate').toFixed(0)} against ${perSecond('baseline').toFixed(0)} tokens/s`;
}

function comparisonDetails({ ours, peers }: Comparison) {
  return {
    ours: ours.metrics,
    peers: peers.map(({ setup, sameTokens, run: { prefillMs, decodeMs } }) => ({
      ...setup,
      sameTokens,
      prefillMs,
      decodeMs,
    })),
  };
}
