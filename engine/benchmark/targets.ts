import type { OpenModelOptions } from '../model/openModel.ts';
import { ModelRuntime } from '../modelRuntime.ts';
import type { SpeculationPlan } from '../speculation/speculationPlan.ts';

/**
 * The model as each algorithm's user would have it loaded: what a graph hands out for a drafter costs time in every pass, so
 * plain decoding runs on one that hands out nothing. Algorithms that need the same share a model.
 */
export class Targets {
  readonly #modelDir: string;
  readonly options: OpenModelOptions;
  readonly #loaded = new Map<string, ModelRuntime>();

  constructor(modelDir: string, options: OpenModelOptions) {
    this.#modelDir = modelDir;
    this.options = options;
  }

  /** @throws SlipstreamError model.*, io, device.unavailable, outOfMemory */
  async load({ outputs }: SpeculationPlan): Promise<ModelRuntime> {
    const key = JSON.stringify([outputs.taps, outputs.successors]);
    const known = this.#loaded.get(key);
    if (known) return known;
    // Where the device is left to a measurement, all follow the first one: others would measure another device.
    const device = [...this.#loaded.values()].at(0)?.model.info.device ?? this.options.device;
    const runtime = await ModelRuntime.load(this.#modelDir, { ...this.options, device, ...outputs });
    this.#loaded.set(key, runtime);
    return runtime;
  }

  async dispose(): Promise<void> {
    for (const runtime of this.#loaded.values()) await runtime.dispose();
  }
}
