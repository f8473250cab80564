/** Suggestions beside the most probable one, from the engine in this process on the embedded model. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { TextDocument } from 'vscode-languageserver-textdocument';
import { alternativeSampling } from '../../engine/config.ts';
import { createEngine, type SlipstreamEngine } from '../../engine/engine.ts';
import type { Algorithm } from '../../engine/protocol.ts';
import { temporaryFolder } from '../temporaryFolder.ts';
import { sampleDocument } from './sampleWorkspace.ts';

const cacheDir = temporaryFolder();
const never = new AbortController().signal;
// Nobody can be sure what is imported here: where the model is sure, all samples are one text.
const before = `${sampleDocument('src/bookings.ts').getText()}\nimport { `;
const document = TextDocument.create('file:///more.ts', 'typescript', 1, before);
const place = {
  document,
  position: document.positionAt(before.length),
  indentation: { insertSpaces: true, tabSize: 2 },
  openDocuments: [document],
};
const completion = { ...place, onText: () => {} } as const;

const unhurried = { sampling: alternativeSampling, withinMs: Number.POSITIVE_INFINITY, signal: never };

async function startEngine(algorithm: Algorithm): Promise<SlipstreamEngine> {
  const engine = await createEngine({
    settings: { algorithm, device: 'cpu', maxTokens: 32 },
    cacheDir,
    workspaceFolders: [],
    log: () => {},
    onIndexProgress: () => {},
    onModelChanged: () => {},
  });
  engine.documentChanged(document);
  await engine.gatherContext(place);
  return engine;
}

async function textsOf(engine: SlipstreamEngine, count: number, known: readonly string[]) {
  const found = await engine.alternativesInDetail(place, { ...unhurried, count, known });
  return found.map(({ outcome }) => outcome.text);
}

test('they differ from what is known and from each other, and are the same with drafts and without', async () => {
  const answers: string[][] = [];
  for (const algorithm of ['none', 'ngram'] as const) {
    const engine = await startEngine(algorithm);
    const first = await engine.complete(completion, never);
    assert.equal(first.kind, 'completion');
    const texts = await textsOf(engine, 4, [first.text]);
    assert.equal(new Set([first.text, ...texts]).size, 5);
    const others = await textsOf(engine, 4, [first.text, ...texts]);
    assert.equal(new Set([first.text, ...texts, ...others]).size, 5 + others.length);
    assert.deepEqual(await engine.complete(completion, never).then(textAndRange), textAndRange(first));
    answers.push([first.text, ...texts]);
    await engine.dispose();
  }
  assert.deepEqual(answers[1], answers[0]);
});

function textAndRange(result: object) {
  const { text, range } = result as { text?: string; range?: unknown };
  return { text, range };
}

test('the prompt is evaluated once for all of them', async () => {
  const engine = await startEngine('none');
  const { metrics } = await engine.completeInDetail(completion, never);
  assert.ok(metrics.prefilledTokens > 50);
  const found = await engine.alternativesInDetail(place, { ...unhurried, count: 3, known: [] });
  assert.deepEqual(
    found.map((alternative) => alternative.metrics.prefilledTokens),
    [1, 1, 1],
  );
  await engine.dispose();
});

test('when the time is up no further one is begun, and after a cancel none is shown', async () => {
  const engine = await startEngine('none');
  const found = await engine.alternativesInDetail(place, { ...unhurried, count: 4, known: [], withinMs: 0 });
  assert.equal(found.length, 1);
  const { text, range } = found[0].outcome;
  const again = { ...unhurried, count: 4, known: [text], withinMs: 0 };
  assert.deepEqual(await engine.alternativesInDetail(place, again), [], 'what is known counts as a try');
  const answer = await engine.alternatives({ ...place, count: 1, known: [] }, never);
  assert.deepEqual(answer, { kind: 'alternatives', suggestions: [{ text, range }] });
  const abort = new AbortController();
  const asked = engine.alternatives({ ...place, count: 4, known: [] }, abort.signal);
  setTimeout(() => abort.abort(), 5);
  assert.deepEqual(await asked, { kind: 'cancelled' });
  const early = await engine.alternatives({ ...place, count: 4, known: [] }, AbortSignal.abort());
  assert.deepEqual(early, { kind: 'cancelled' });
  await engine.dispose();
});

test('the first token of each is timed from when it was begun', async (t) => {
  const engine = await startEngine('none');
  t.after(() => engine.dispose());
  const found = await engine.alternativesInDetail(place, { ...unhurried, count: 5, known: [] });
  const { ttftMs, prefillMs, decodeMs } = found.at(-1)!.metrics;
  assert.ok(found.length > 3 && ttftMs <= prefillMs + decodeMs + 20, `${ttftMs} ms`);
});
