import { type Algorithm, algorithms, medusaTrees, type SpeculationSettings } from '../protocol.ts';
import { speculationProblem } from '../speculation/speculationSettings.ts';
import type { Option } from './command.ts';
import { type CommandLine, usageError } from './commandLine.ts';
import { requireFolder } from './files.ts';

const names = algorithms.map(algorithmName);

/** SGLang's names, as for the same options of its server. */
export const speculationOptions = {
  'speculative-algorithm': {
    value: 'NAME',
    help: `Where drafts come from: ${names.join(', ')}. Default: AUTO.`,
  },
  'speculative-draft-model-path': {
    value: 'DIR',
    help: "Folder of a head or draft model. Default: the one in the model's folder heads.",
  },
  'speculative-num-steps': {
    value: 'N',
    help: 'Tokens ahead that a head or draft model looks. Default: what pays.',
  },
  'speculative-eagle-topk': {
    value: 'K',
    help: 'Tokens it follows at each step; 1: a chain. Default: what pays.',
  },
  'speculative-num-draft-tokens': {
    value: 'N',
    help: 'Draft up to so many tokens a pass, paying or not. Default: as many as pay.',
  },
  'speculative-medusa-tree': {
    value: 'NAME',
    help: `Tree that MEDUSA drafts: ${medusaTrees.join(', ')}. Default: the likeliest one each time.`,
  },
} as const satisfies Record<string, Option>;

/** @throws SlipstreamError usage when a value is wrong, or values do not go together */
export async function speculationSettings(line: CommandLine): Promise<SpeculationSettings> {
  const name = line.choice('speculative-algorithm', names) ?? 'AUTO';
  const numSteps = line.integer('speculative-num-steps', 1);
  const eagleTopk = line.integer('speculative-eagle-topk', 1);
  const numDraftTokens = line.integer('speculative-num-draft-tokens', 1);
  const medusaTree = line.choice('speculative-medusa-tree', medusaTrees);
  const draftModel = line.text('speculative-draft-model-path');
  const settings: SpeculationSettings = {
    algorithm: algorithms.find((algorithm) => algorithmName(algorithm) === name)!,
    ...(numSteps !== undefined && { numSteps }),
    ...(eagleTopk !== undefined && { eagleTopk }),
    ...(numDraftTokens !== undefined && { numDraftTokens }),
    ...(medusaTree !== undefined && { medusaTree }),
    ...(draftModel !== undefined && { draftModel: await requireFolder(draftModel) }),
  };
  const problem = speculationProblem(settings);
  if (problem) throw usageError(problem);
  return settings;
}

/** As the command line writes it. */
export function algorithmName(algorithm: Algorithm): string {
  return algorithm.toUpperCase();
}
