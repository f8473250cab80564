/**
 * What a person feels, measured in a real VS Code: from key to ghost text, beside an extension that answers at
 * once (the floor: VS Code's own debounce and drawing), interleaved in one run; typing through a suggestion;
 * activation; the engine's start.
 * usage: node --import tsx test/vscode/latency.ts [ROUNDS] [--prompt-tokens N] [--json]
 */
import { parseArgs } from 'node:util';
import { median, percentiles } from '../../engine/benchmark/statistics.ts';
import { startBrowserVsCode } from './browserVsCode.ts';
import type { WatchedGhostText } from './editor.ts';
import { Session } from './session.ts';

/** Between keys at least; the next one waits for the ghost text of the one before, so that slow ones count as slow. */
const keyIntervalMs = 400;
/** Without ghost text by then there is nothing to suggest. */
const longestWaitMs = 3000;
/** Of the engine, its cache warm. */
const RESTARTS = 3;
/** Typed in a file of either kind: one of them in each round. */
const typedTexts = [
  '  const result = items.filter((item) => ',
  '  const total = items.reduce((sum, item) => sum + item, 0);',
  '  for (const item of items) console.log(item, scale1(items, 2));',
];
/** About 1,500 tokens before the cursor. */
const longFile = `${Array.from(
  { length: 60 },
  (_, i) => `export function scale${i}(items: number[], factor: number): number[] {
  return items.map((item) => item * factor + ${i});
}
`,
).join('\n')}
export function last(items: number[]) {
`;
/** The floor is taken in a file that gives VS Code the same work: colours, its own language service, a long document. */
const floorFile = longFile.replaceAll(/: number(\[\])?/g, '');

interface Spread {
  /** Keys that brought ghost text. */
  readonly n: number;
  readonly p50Ms: number;
  readonly p90Ms: number;
}

export interface Latencies {
  readonly floor: Spread;
  readonly slipstream: Spread;
  readonly abovePerPercentile: { readonly p50Ms: number; readonly p90Ms: number };
  /** What the provider takes to answer by asking the engine, from when VS Code asks. */
  readonly answered: Spread;
  /** What the provider takes to answer from what it knows, without a request. */
  readonly typedThrough: Spread;
  /** As VS Code itself measures it, of this extension and of the floor's one file of some lines. */
  readonly activationMs: number;
  readonly floorActivationMs: number;
  /** The first start compiles and measures the model; later ones find both done: their median. */
  readonly firstEngineStartMs: number;
  readonly engineStartMs: number;
}

export async function measureLatencies(rounds: number, promptTokens: number | null): Promise<Latencies> {
  const session = await Session.start(startBrowserVsCode, {
    files: { 'long.ts': longFile, 'at-once.js': floorFile },
    extensionFolders: ['test/vscode/floor-extension'],
    logLevel: 'trace',
    settings: {
      'slipstream.enable': { '*': true, javascript: false },
      'slipstream.promptTokens': promptTokens,
      'editor.quickSuggestions': { other: 'off' },
      'editor.autoClosingBrackets': 'never',
      'editor.suggestOnTriggerCharacters': false,
      'editor.parameterHints.enabled': false,
    },
    view: { width: 1280, height: 1600 },
  });
  try {
    const { editor } = session;
    await editor.openFile('long.ts');
    await editor.waitForStatus('tiny-coder');
    const floor: number[] = [];
    const slipstream: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const text = typedTexts[round % typedTexts.length];
      floor.push(...(await typeIn(session, 'at-once.js', text)));
      slipstream.push(...(await typeIn(session, 'long.ts', text)));
    }
    for (let restart = 1; restart <= RESTARTS; restart++) {
      await editor.runCommand('Slipstream: Restart Engine');
      await session.waitFor(
        'the engine is ready again',
        () => engineStartsMs(session.log()).length > restart,
      );
    }
    const [firstEngineStartMs, ...laterStartsMs] = engineStartsMs(session.log());
    const known = timesMs(session.log(), /known, answered in ([\d.]+) ms/g);
    const asked = timesMs(session.log(), /asked for, answered in ([\d.]+) ms/g);
    const [activationMs, floorActivationMs] = await editor.activationsMs('Slipstream', 'floor');
    const [floorMs, slipstreamMs] = [spread(floor), spread(slipstream)];
    return {
      floor: floorMs,
      slipstream: slipstreamMs,
      abovePerPercentile: {
        p50Ms: round1(slipstreamMs.p50Ms - floorMs.p50Ms),
        p90Ms: round1(slipstreamMs.p90Ms - floorMs.p90Ms),
      },
      answered: spread(asked),
      typedThrough: spread(known),
      activationMs,
      floorActivationMs,
      firstEngineStartMs,
      engineStartMs: median(laterStartsMs),
    };
  } finally {
    await session.end();
  }
}

/** @returns the times from key to new ghost text, of the keys that brought any */
async function typeIn({ editor }: Session, file: string, text: string): Promise<number[]> {
  await editor.openFile(file);
  await editor.page.waitForTimeout(1000);
  await editor.watchGhostText();
  for (const character of text) {
    await editor.type(character, 0);
    await Promise.all([editor.page.waitForTimeout(keyIntervalMs), editor.ghostTextOfLastKey(longestWaitMs)]);
  }
  const watched = await editor.watchedGhostText();
  await editor.page.keyboard.press('Escape');
  await editor.page.keyboard.press('Enter');
  return latencies(watched);
}

/** A key that only shortens what is shown waits for nobody: it is left out. */
function latencies({ keysMs, seen }: WatchedGhostText): number[] {
  return keysMs.flatMap((keyMs, i) => {
    const nextKeyMs = keysMs[i + 1] ?? Number.POSITIVE_INFINITY;
    const before = seen.findLast(({ atMs }) => atMs < keyMs)?.text ?? '';
    const shown = seen.find(({ atMs, text }) => atMs >= keyMs && atMs < nextKeyMs && text !== '');
    return shown && !before.endsWith(shown.text) ? [shown.atMs - keyMs] : [];
  });
}

/** From spawning to ready, of each start. */
function engineStartsMs(log: string): number[] {
  const at = (event: string) =>
    log
      .split('\n')
      .filter((line) => line.includes(event))
      .map((line) => Date.parse(line.slice(0, 23)));
  const started = at('engine starting');
  return at('engine ready').map((readyMs, i) => readyMs - started[i]);
}

function timesMs(log: string, pattern: RegExp): number[] {
  return [...log.matchAll(pattern)].map(([, ms]) => Number(ms));
}

function spread(valuesMs: readonly number[]): Spread {
  const { p50, p90 } = percentiles(valuesMs);
  return { n: valuesMs.length, p50Ms: round1(p50), p90Ms: round1(p90) };
}

function round1(value: number): number {
  return Math.round(value * 10) / 10;
}

if (import.meta.filename === process.argv[1]) {
  const { values, positionals } = parseArgs({
    options: { json: { type: 'boolean' }, 'prompt-tokens': { type: 'string' } },
    allowPositionals: true,
  });
  const promptTokens = values['prompt-tokens'];
  const measured = await measureLatencies(
    Number(positionals[0] ?? 3),
    promptTokens === undefined ? null : Number(promptTokens),
  );
  if (values.json) console.log(JSON.stringify(measured));
  else console.table(measured);
}
