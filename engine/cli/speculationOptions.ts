import type { DraftSettings } from '../draft/createDrafter.ts';
import { type Algorithm, algorithms } from '../protocol.ts';
import type { Option } from './command.ts';
import type { CommandLine } from './commandLine.ts';

const names = algorithms.map(algorithmName);

/** SGLang's names, as for the same options of its server. */
export const speculationOptions = {
  'speculative-algorithm': { value: names.join('|'), help: 'Where drafts come from. Default: AUTO.' },
  'speculative-num-draft-tokens': {
    value: 'N',
    help: 'Draft up to so many tokens a pass, paying or not. Default: as many as pay.',
  },
} as const satisfies Record<string, Option>;

export function draftSettings(line: CommandLine): DraftSettings {
  const name = line.choice('speculative-algorithm', names) ?? 'AUTO';
  return {
    algorithm: algorithms.find((algorithm) => algorithmName(algorithm) === name)!,
    numDraftTokens: line.integer('speculative-num-draft-tokens', 1),
  };
}

/** As the command line writes it. */
export function algorithmName(algorithm: Algorithm): string {
  return algorithm.toUpperCase();
}
