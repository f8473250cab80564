import { TextDocument } from 'vscode-languageserver-textdocument';
import { percentiles } from '../benchmark/statistics.ts';
import { createEngine, type SlipstreamEngine } from '../engine.ts';
import type { DecodeMetrics } from '../metrics.ts';
import { seededRandom } from '../seededRandom.ts';
import type { BenchDocument } from './benchWorkspace.ts';
import { heldOutWorkspaces } from './benchWorkspace.ts';
import type { BenchContext } from './context.ts';
import type { Section } from './report.ts';

const TYPED_CHARACTERS = 400;
const MAX_TOKENS = 32;
const CANCELLATIONS = 60;
/** A completion of a fresh prompt takes longer than this, so that a cancel falls into prefill or decoding. */
const LATEST_CANCEL_MS = 60;
const STARTS = 5;

/** The engine under a typing person: what a keystroke costs, how soon a cancel is felt, how soon it is ready. */
export async function measureTyping(context: BenchContext): Promise<Section> {
  const random = seededRandom(context.seed);
  const startsMs = await startTimes(context);
  const engine = await startEngine(context);
  const documents = (await heldOutWorkspaces()).flatMap((workspace) => workspace.documents);
  const long = documents.filter(({ text }) => text.length > 10 * TYPED_CHARACTERS);
  const typed = await typeThrough(engine, long[Math.floor(random() * long.length)], context);
  const cancelMs = await cancelTimes(engine, long, random, context);
  await engine.dispose();
  const prefilled = percentiles(typed.map(({ prefilledTokens }) => prefilledTokens));
  const reused = typed
    .slice(1)
    .reduce((sum, { promptTokens, prefilledTokens }) => sum + 1 - prefilledTokens / promptTokens, 0);
  const ttft = percentiles(typed.map(({ ttftMs }) => ttftMs));
  const cancel = percentiles(cancelMs);
  const ready = percentiles(startsMs);
  return {
    title: `Typing: ${TYPED_CHARACTERS} keystrokes in a real file, a request after each`,
    figures: [
      { name: 'tokens prefilled per keystroke, p50', unit: 'tokens', measured: prefilled.p50 },
      { name: 'tokens prefilled per keystroke, p99', unit: 'tokens', measured: prefilled.p99 },
      {
        name: 'share of the prompt that was reused',
        unit: '%',
        measured: (100 * reused) / (typed.length - 1),
      },
      { name: 'first token, p50', unit: 'ms', measured: ttft.p50 },
      { name: 'first token, p99', unit: 'ms', measured: ttft.p99 },
      { name: 'cancel, p50', unit: 'ms', measured: cancel.p50 },
      { name: 'cancel, max', unit: 'ms', measured: cancel.max, target: { atMost: 50 } },
      { name: 'engine ready, cache warm, p50', unit: 'ms', measured: ready.p50, target: { atMost: 1500 } },
    ],
    notes: [
      `Cancelled at random within ${LATEST_CANCEL_MS} ms of the request, ${CANCELLATIONS} times. Ready: model, tokenizer and cost table loaded in this process.`,
    ],
    faults: [],
    details: { prefilled, ttft, cancel, startsMs },
  };
}

function startEngine({ cacheDir, modelDir }: BenchContext): Promise<SlipstreamEngine> {
  return createEngine({
    settings: { algorithm: 'auto', device: 'cpu', maxTokens: MAX_TOKENS, model: modelDir },
    cacheDir,
    workspaceFolders: [],
    log: () => {},
    onIndexProgress: () => {},
    onModelChanged: () => {},
  });
}

async function startTimes(context: BenchContext): Promise<number[]> {
  await (await startEngine(context)).dispose(); // fills the cache
  const times: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    context.progress(`start ${i + 1}/${STARTS}`);
    const started = performance.now();
    const engine = await startEngine(context);
    times.push(performance.now() - started);
    await engine.dispose();
  }
  return times;
}

/** The second half of the file is typed after its first half, without what follows it. */
async function typeThrough(
  engine: SlipstreamEngine,
  { path, text }: BenchDocument,
  context: BenchContext,
): Promise<DecodeMetrics[]> {
  const start = Math.floor(text.length / 2);
  const metrics: DecodeMetrics[] = [];
  for (let i = 0; i < TYPED_CHARACTERS; i++) {
    context.progress(`typing ${i + 1}/${TYPED_CHARACTERS}`);
    const completion = await complete(engine, path, text, start + i, new AbortController().signal);
    metrics.push(completion.metrics);
  }
  return metrics;
}

async function cancelTimes(
  engine: SlipstreamEngine,
  documents: readonly BenchDocument[],
  random: () => number,
  context: BenchContext,
): Promise<number[]> {
  const times: number[] = [];
  while (times.length < CANCELLATIONS) {
    context.progress(`cancel ${times.length}/${CANCELLATIONS}`);
    const { path, text } = documents[Math.floor(random() * documents.length)];
    const offset = Math.floor(text.length * (0.3 + 0.6 * random()));
    const abort = new AbortController();
    let cancelled = 0;
    const timer = setTimeout(() => {
      cancelled = performance.now();
      abort.abort();
    }, LATEST_CANCEL_MS * random());
    const { outcome } = await complete(engine, path, text, offset, abort.signal);
    clearTimeout(timer);
    if (outcome.kind === 'cancelled') times.push(performance.now() - cancelled);
  }
  return times;
}

function complete(engine: SlipstreamEngine, path: string, text: string, offset: number, signal: AbortSignal) {
  const lineEnd = text.indexOf('\n', offset);
  const document = TextDocument.create(
    `file:///bench/${path}`,
    'javascript',
    offset,
    // The rest of the line being typed is not there yet.
    text.slice(0, offset) + text.slice(lineEnd < 0 ? text.length : lineEnd),
  );
  engine.documentChanged(document);
  return engine.completeInDetail(
    {
      document,
      position: document.positionAt(offset),
      indentation: { insertSpaces: true, tabSize: 2 },
      openDocuments: [document],
      onText: () => {},
    },
    signal,
  );
}
