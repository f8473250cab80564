import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { fixedController } from '../../engine/decode/controller.ts';
import { embeddedModelDir } from '../../engine/embeddedModel.ts';
import { ModelRuntime } from '../../engine/modelRuntime.ts';
import { greedyVerifier } from '../../engine/verify/greedy.ts';
import { temporaryFolder } from '../temporaryFolder.ts';
import { sampleText } from './sampleWorkspace.ts';

const never = new AbortController().signal;
const strategy = { controller: fixedController(0), verifier: greedyVerifier };

function promptOf(tokens: Int32Array) {
  return { tokens, prefix: { start: 0, end: tokens.length }, suffix: { start: 0, end: 0 } };
}

const runtime = await ModelRuntime.load(embeddedModelDir, {
  device: 'cpu',
  cacheDir: temporaryFolder(),
  threads: 1,
  log: () => {},
});
after(() => runtime.dispose());
const prompt = runtime.tokenizer.encode(`${sampleText('src/boats.ts')}\nexport function `);

test('a preparation that finds its prompt evaluated leaves the rows of the suggestion after it', async () => {
  const ask = (tokens: Int32Array, maxNewTokens: number) =>
    runtime.decode(strategy, {
      prompt: promptOf(tokens),
      maxNewTokens,
      endTokens: new Set(),
      onToken: () => 'continue',
      signal: never,
    });
  assert.ok((await runtime.prefill(promptOf(prompt), never)) > 0);
  const suggested = await ask(prompt, 20);
  assert.equal(await runtime.prefill(promptOf(prompt), never), 0);
  const accepted = await ask(Int32Array.from([...prompt, ...suggested.tokens]), 1);
  assert.equal(accepted.metrics.prefilledTokens, 1, 'all but the last token were evaluated before');
});

test('what belongs to a turn is done before the next one begins; without a turn, nothing is', async () => {
  const done: string[] = [];
  const ask = (name: string, signal = never) =>
    runtime.decode(
      strategy,
      {
        prompt: promptOf(prompt),
        maxNewTokens: 1,
        endTokens: new Set(),
        onToken: () => {
          done.push(`${name} writes`);
          return 'continue';
        },
        signal,
      },
      {
        begin: () => done.push(`${name} begins`),
        end: ({ finish }) => done.push(`${name} ends: ${finish}`),
      },
    );
  await Promise.all([ask('one'), ask('called off', AbortSignal.abort()), ask('two')]);
  assert.deepEqual(done, [
    'one begins',
    'one writes',
    'one ends: length',
    'two begins',
    'two writes',
    'two ends: length',
  ]);
});
