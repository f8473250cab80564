import type { Latencies } from '../../test/vscode/latency.ts';
import { runScript } from './childScript.ts';
import type { Figure, Section } from './report.ts';

const ROUNDS = 3;
/** What the targets are for; the included model takes fewer by itself. */
const LONG_PROMPT = 1500;

/** What a person feels in a real VS Code, beside a provider that answers at once in the same VS Code. */
export async function measureVsCode(): Promise<Section> {
  const long = await latencies('--prompt-tokens', String(LONG_PROMPT));
  const usual = await latencies();
  return {
    title: 'In VS Code',
    figures: [
      ...fromKeyToGhostText(`prompts of ${LONG_PROMPT} tokens`, long),
      ...fromKeyToGhostText('prompts as they are unless set', usual),
      atMost(16, 'a character typed through, p50', usual.typedThrough.p50Ms),
      {
        ...atMost(50, 'activation', usual.activationMs),
        baseline: { name: 'floor', measured: usual.floorActivationMs },
      },
      atMost(1500, 'engine ready after its start, cache warm, median of 3', usual.engineStartMs),
      { name: 'engine ready the first time on a machine', unit: 'ms', measured: usual.firstEngineStartMs },
    ],
    notes: [
      "Floor: an extension that answers at once in a like file, so VS Code's own debounce, language service and drawing.",
      'Keys that brought ghost text count, however late it came (within 3 s); the next key waits for it.',
    ],
    faults: [],
    details: { long, usual },
  };
}

async function latencies(...options: readonly string[]): Promise<Latencies> {
  return JSON.parse(await runScript('test/vscode/latency.ts', [String(ROUNDS), ...options, '--json']));
}

function fromKeyToGhostText(what: string, measured: Latencies): Figure[] {
  const { floor, slipstream, abovePerPercentile } = measured;
  const keystroke = (percentile: string, ours: number, theirs: number): Figure => ({
    name: `keystroke to ghost text, ${what}, ${percentile}`,
    unit: 'ms',
    measured: ours,
    baseline: { name: 'floor', measured: theirs },
    remark: `${slipstream.n} keys, floor ${floor.n}`,
  });
  return [
    keystroke('p50', slipstream.p50Ms, floor.p50Ms),
    keystroke('p90', slipstream.p90Ms, floor.p90Ms),
    atMost(60, '  p50 above the floor', abovePerPercentile.p50Ms),
    atMost(120, '  p90 above the floor', abovePerPercentile.p90Ms),
  ];
}

function atMost(most: number, name: string, measured: number): Figure {
  return { name, unit: 'ms', measured, target: { atMost: most } };
}
