/** Checkpoints and what the reference implementation computes with them (test/fixtures/golden/README.md). */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const goldenNames = [
  'llama',
  'llama_linear_rope',
  'llama_bf16',
  'qwen2_tied',
  'qwen2_untied_sharded',
  'qwen3_tied',
] as const;
export type GoldenName = (typeof goldenNames)[number];

/** Largest error of logits and hidden states that is not a bug in float32. */
export const GOLDEN_TOLERANCE = 5e-4;

export interface GoldenPrompt {
  readonly name: string;
  readonly tokens: Int32Array; // [n]
  readonly greedy: Int32Array; // [32]
  readonly lastLogits: Float32Array; // [min(4, n), vocab]
  /** The input of every layer, then that of the final norm: each the last rows of [n, hidden]. */
  readonly residuals: readonly Float32Array[];
}

export interface Golden {
  readonly dir: string;
  readonly layers: number;
  readonly prompts: readonly GoldenPrompt[];
}

interface Manifest {
  readonly num_layers: number;
  readonly arrays: Readonly<Record<string, { readonly file: string; readonly dtype: 'int32' | 'float32' }>>;
}

export function goldenDir(name: GoldenName): string {
  return fileURLToPath(new URL(`./fixtures/golden/${name}`, import.meta.url));
}

export function loadGolden(name: GoldenName): Golden {
  const dir = goldenDir(name);
  const manifest: Manifest = JSON.parse(readFileSync(join(dir, 'manifest.json'), 'utf8'));
  const bytes = (array: string) =>
    new Uint8Array(readFileSync(join(dir, manifest.arrays[array].file))).buffer;
  const layers = manifest.num_layers;
  const prompts = ['p1', 'p17', 'p200'].map((prompt) => ({
    name: prompt,
    tokens: new Int32Array(bytes(`${prompt}_input_ids`)),
    greedy: new Int32Array(bytes(`${prompt}_greedy_tokens`)),
    lastLogits: new Float32Array(bytes(`${prompt}_logits_last4`)),
    residuals: [...Array.from({ length: layers }, (_, i) => `hidden_${i}`), 'prenorm'].map(
      (array) => new Float32Array(bytes(`${prompt}_${array}`)),
    ),
  }));
  return { dir, layers, prompts };
}
