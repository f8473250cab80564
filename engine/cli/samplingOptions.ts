import type { SamplingSettings } from '../sampling/samplingSettings.ts';
import type { Option } from './command.ts';
import { type CommandLine, usageError } from './commandLine.ts';

const besideTemperature = ['top-k', 'top-p', 'min-p', 'seed'] as const;

/** vLLM's names and ranges. */
export function samplingOptions({ temperature, topK, topP, minP, seed }: SamplingSettings) {
  return {
    temperature: { value: 'T', help: `Sample at this temperature; 0: greedy. Default: ${temperature}.` },
    'top-k': { value: 'K', help: `Sample from the K most probable tokens; 0: from all. Default: ${topK}.` },
    'top-p': { value: 'P', help: `Sample from the fewest tokens that hold probability P. Default: ${topP}.` },
    'min-p': { value: 'P', help: `Sample from tokens of at least P of the best one's. Default: ${minP}.` },
    seed: { value: 'N', help: `The same seed gives the same text again. Default: ${seed}.` },
  } as const satisfies Record<string, Option>;
}

/**
 * @param defaults what the options do not say
 * @throws SlipstreamError usage when a value is out of range, or goes with no sampling
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
  const given = givenBesideTemperature(line);
  if (settings.temperature === 0 && given) {
    throw usageError(`--${given}: nothing is sampled at temperature 0; give --temperature`);
  }
  return settings;
}

/** An option that only has a meaning when something is sampled, if one was given. */
export function givenBesideTemperature(line: CommandLine): string | undefined {
  return besideTemperature.find((name) => line.text(name) !== undefined);
}
