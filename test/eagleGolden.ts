/** What the reference implementation of EAGLE computes (test/fixtures/golden/README.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { openCheckpoint, readTensor } from '../engine/compile/checkpoint.ts';
import type { RecurrentHead } from '../engine/compile/heads/eagleGraphStep.ts';
import { openHead } from '../engine/compile/heads/openHead.ts';

const golden = fileURLToPath(new URL('./fixtures/golden', import.meta.url));

export const eagleTargetDir = join(golden, 'llama_eagle_target');
export const eagleHeads = ['eagle1_trained', 'eagle3_trained'] as const;
export type EagleHeadName = (typeof eagleHeads)[number];
export const eaglePrompts = ['p1', 'p17', 'p200'] as const;
export type EaglePrompt = (typeof eaglePrompts)[number];
export const eagleTrees = ['A', 'B', 'C'] as const;
export type EagleTree = (typeof eagleTrees)[number];

/** Neighbouring values further apart than this are in the same order in every float32 implementation. */
export const CLEAR_GAP = 1e-4;

/** The first node is the root: the token before the drafts. */
export interface EagleStep {
  readonly context_len: number;
  readonly draft_tokens: readonly number[];
  readonly parents: readonly number[];
  readonly accept_length: number;
  readonly min_topk_order_gap: number;
  readonly final_topk_boundary_gap: number;
}

interface Manifest {
  readonly prompts: Readonly<
    Record<EaglePrompt, { readonly input_ids: readonly number[]; readonly first_token: number }>
  >;
  readonly tree_configs: Readonly<
    Record<EagleTree, { readonly total_token: number; readonly depth: number; readonly top_k: number }>
  >;
  readonly generation: Readonly<Record<string, { readonly output_tokens: readonly number[] }>>;
  readonly arrays: Readonly<Record<string, { readonly file: string }>>;
}

export class EagleGolden {
  readonly name: EagleHeadName;
  readonly #manifest: Manifest;

  constructor(name: EagleHeadName) {
    this.name = name;
    this.#manifest = JSON.parse(readFileSync(join(golden, 'eagle', name, 'manifest.json'), 'utf8'));
  }

  async openHead(): Promise<RecurrentHead> {
    const { architecture } = await openCheckpoint(eagleTargetDir);
    const head = await openHead(join(golden, 'heads', this.name), architecture);
    if (head.kind === 'medusa') throw new Error(`${this.name} is a Medusa head`);
    return head;
  }

  /** The prompt and the target's first token after it. */
  tokens(prompt: EaglePrompt): Int32Array {
    const { input_ids, first_token } = this.#manifest.prompts[prompt];
    return Int32Array.from([...input_ids, first_token]);
  }

  /**
   * Of the prompt, as a head takes them: [n, taps * hidden]. The reference keeps those of EAGLE-1 normed by the target;
   * dividing by the norm's weights gives what that norm maps to them again.
   */
  async features(prompt: EaglePrompt): Promise<Float32Array> {
    const stored = this.#floats(`${prompt}_target_features`);
    if (this.name === 'eagle3_trained') return stored;
    const norm = await readTensor(await openCheckpoint(eagleTargetDir), 'model.norm.weight');
    return stored.map((value, i) => value / norm[i % norm.length]);
  }

  /** Of every position of the prompt: [n, hidden]. */
  hidden(prompt: EaglePrompt): Float32Array {
    return this.#floats(`${prompt}_draft_hidden`);
  }

  /** [min(4, n), draft vocabulary] */
  lastLogits(prompt: EaglePrompt): Float32Array {
    return this.#floats(`${prompt}_draft_logits_last4`);
  }

  /** In the drafter's own terms: SafeAILab counts the root among the nodes, and not the level that needs no expansion. */
  options(tree: EagleTree): { numSteps: number; topk: number; numDraftTokens: number } {
    const { total_token, depth, top_k } = this.#manifest.tree_configs[tree];
    return { numSteps: depth + 1, topk: top_k, numDraftTokens: total_token - 1 };
  }

  /** Tokens of the first tree, the root's first. */
  firstTree(prompt: EaglePrompt, tree: EagleTree): Int32Array {
    return new Int32Array(this.#bytes(`${prompt}_${tree}_draft_tokens`));
  }

  /** Which nodes each node of the first tree sees: [T, T]. */
  firstTreeMask(prompt: EaglePrompt, tree: EagleTree): Uint8Array {
    return new Uint8Array(this.#bytes(`${prompt}_${tree}_tree_mask`));
  }

  /** Depths in the first tree; the root's is 0. */
  firstTreePositions(prompt: EaglePrompt, tree: EagleTree): Int32Array {
    return new Int32Array(this.#bytes(`${prompt}_${tree}_tree_position_ids`));
  }

  /** What a greedy generation puts out, and its steps. */
  generation(prompt: EaglePrompt, tree: EagleTree) {
    const steps: readonly EagleStep[] = JSON.parse(
      readFileSync(join(golden, 'eagle', this.name, `steps_${prompt}_${tree}.json`), 'utf8'),
    );
    return { tokens: this.#manifest.generation[`${prompt}_${tree}`].output_tokens, steps };
  }

  #floats(array: string): Float32Array {
    return new Float32Array(this.#bytes(array));
  }

  #bytes(array: string): ArrayBuffer {
    return new Uint8Array(readFileSync(join(golden, 'eagle', this.name, this.#manifest.arrays[array].file)))
      .buffer;
  }
}
