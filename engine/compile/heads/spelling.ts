import { corrupt } from '../fileFault.ts';
import type { NamedTensor } from '../storedTensor.ts';
import { HeadTensors } from './headTensors.ts';

/** What the projects call the parts of an EAGLE head, and what they are called here: SafeAILab's names for EAGLE-1. */
const prefixes: readonly (readonly [theirs: string, ours: string])[] = [
  ['midlayer.', 'layers.0.'], // SafeAILab (EAGLE-3), SpecForge, AngelSlim
  // speculators (EAGLE-1)
  ['transformer.', 'layers.0.'],
  ['fusion_fc.', 'fc.'],
  ['embedding_layernorm.', 'embed_norm.'],
  ['pre_lm_head_layernorm.', 'norm.'],
];

/** @throws SlipstreamError model.corrupt when a file holds one part under two names */
export function spellAlike(dir: string, tensors: ReadonlyMap<string, NamedTensor>): HeadTensors {
  const alike = new Map<string, NamedTensor>();
  for (const [name, tensor] of tensors) {
    const ours = ourName(name);
    const other = alike.get(ours);
    if (other) throw corrupt(dir, `holds ${other.name} and ${name}, which are the same part of a head`);
    alike.set(ours, tensor);
  }
  return new HeadTensors(dir, alike, 'config.json');
}

function ourName(name: string): string {
  const bare = name.replace(/^model\./, '');
  const found = prefixes.find(([theirs]) => bare.startsWith(theirs));
  return found ? found[1] + bare.slice(found[0].length) : bare;
}
