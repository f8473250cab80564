import type { SamplingSettings } from '../sampling/samplingSettings.ts';
import type { Option } from './command.ts';
import { type CommandLine, usageError } from './commandLine.ts';

/** vLLM's names and ranges. */
export const samplingOptions = {
  temperature: { value: 'T', help: 'Sample at this temperature; 0: greedy.' },
  'top-k': { value: 'K', help: 'Sample from the K most probable tokens; 0: from all. Default: 0.' },
  'top-p': { value: 'P', help: 'Sample from the fewest tokens that hold probability P. Default: 1.' },
  'min-p': { value: 'P', help: 'Sample from tokens of at least P times the best probability. Default: 0.' },
  seed: { value: 'N', help: 'The same seed gives the same text again. Default: 0.' },
} as const satisfies Record<string, Option>;

const onlyWhenSampling = ['top-k', 'top-p', 'min-p', 'seed'] as const;

/**
 * @param defaults what is sampled with as far as the options do not say otherwise
 * @throws SlipstreamError usage when a value is out of range, or has no meaning because decoding is greedy
 */
export function samplingSettings(line: CommandLine, defaults: SamplingSettings): SamplingSettings {
  const settings = {
    temperature: line.decimal('temperature', { from: 0, to: 100 }) ?? defaults.temperature,
    topK: line.integer('top-k', 0) ?? defaults.topK,
    topP: line.decimal('top-p', { from: 0, to: 1 }) ?? defaults.topP,
    minP: line.decimal('min-p', { from: 0, to: 1 }) ?? defaults.minP,
    seed: line.integer('seed', 0) ?? defaults.seed,
  };
  if (settings.topP === 0) throw usageError('--top-p: no token holds probability 0');
  const unused = onlyWhenSampling.find((name) => line.text(name) !== undefined);
  if (settings.temperature === 0 && unused) {
    throw usageError(`--${unused}: nothing is sampled at temperature 0; give --temperature`);
  }
  return settings;
}
