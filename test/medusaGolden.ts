/** What the reference implementation of Medusa computes (test/fixtures/golden/README.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { MedusaTree } from '../engine/draft/medusaTrees.ts';

const golden = fileURLToPath(new URL('./fixtures/golden', import.meta.url));

export const medusaTargetDir = join(golden, 'llama_eagle_target');
export const medusaHeadDir = join(golden, 'heads/medusa_trained');
export const medusaPrompts = ['p1', 'p17', 'p200'] as const;
export type MedusaPrompt = (typeof medusaPrompts)[number];
export const medusaTrees = ['mc_sim_7b_63', 'vicuna_7b_stage2'] as const satisfies readonly MedusaTree[];

interface Manifest {
  readonly tree_buffers: Readonly<Record<MedusaTree, { readonly choices: readonly (readonly number[])[] }>>;
  readonly prompts: Readonly<Record<MedusaPrompt, { readonly input_ids: readonly number[] }>>;
  readonly generation: Readonly<Record<string, { readonly output_tokens: readonly number[] }>>;
  readonly arrays: Readonly<Record<string, { readonly file: string }>>;
}

const manifest: Manifest = JSON.parse(readFileSync(join(golden, 'medusa/manifest.json'), 'utf8'));

function bytes(array: string): ArrayBuffer {
  return new Uint8Array(readFileSync(join(golden, 'medusa', manifest.arrays[array].file))).buffer;
}

export function promptTokens(prompt: MedusaPrompt): Int32Array {
  return Int32Array.from(manifest.prompts[prompt].input_ids);
}

/** [heads, min(4, n), vocab] */
export function lastLogits(prompt: MedusaPrompt): Float32Array {
  return new Float32Array(bytes(`${prompt}_medusa_logits_last4`));
}

/** Row 0 of everything is the root. */
export interface TreeBuffers {
  readonly paths: readonly (readonly number[])[];
  readonly mask: Uint8Array; // [T, T]
  readonly indices: Int32Array; // [T]
  readonly depths: Int32Array; // [T]
  readonly leaves: Int32Array; // [leaves, depth + 1], padded with -1
}

export function treeBuffers(tree: MedusaTree): TreeBuffers {
  return {
    paths: manifest.tree_buffers[tree].choices,
    mask: new Uint8Array(bytes(`${tree}_medusa_attn_mask`)),
    indices: new Int32Array(bytes(`${tree}_tree_indices`)),
    depths: new Int32Array(bytes(`${tree}_medusa_position_ids`)),
    leaves: new Int32Array(bytes(`${tree}_retrieve_indices`)),
  };
}

/** Tokens of the tree after the prompt, the root's first. */
export function firstCandidates(prompt: MedusaPrompt, tree: MedusaTree): Int32Array {
  return new Int32Array(bytes(`${prompt}_${tree}_step0_tree_candidates`));
}

export interface GoldenStep {
  readonly context_len: number;
  readonly tree_candidates: readonly number[];
  readonly accept_length: number;
  readonly min_topk_gap: number;
}

export interface GoldenGeneration {
  readonly tokens: readonly number[];
  readonly steps: readonly GoldenStep[];
}

export function generation(prompt: MedusaPrompt, tree: MedusaTree): GoldenGeneration {
  const steps = readFileSync(join(golden, `medusa/steps_${prompt}_${tree}_greedy.json`), 'utf8');
  return {
    tokens: manifest.generation[`${prompt}_${tree}_greedy`].output_tokens,
    steps: JSON.parse(steps),
  };
}
