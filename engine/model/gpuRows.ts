import './float16Bits.ts';
import type { Architecture } from '../compile/architecture.ts';
import { growRowsGraph, moveRowsGraph } from '../compile/gpuRows.ts';
import type { FloatType } from '../compile/graphBuilder.ts';
import { writeOnnxModel } from '../compile/onnxModel.ts';
import { createGpuSession, runOnGpu } from './gpuSession.ts';
import * as ort from './onnxruntime.ts';

/** Buffers on the device, by the names that a graph has for them as inputs. */
export type GpuBuffers = Readonly<Record<string, ort.Tensor>>;

/** Allocates KV rows on the device and moves them there. Shared by all caches of a model. */
export class GpuRows {
  readonly #grow: ort.InferenceSession;
  readonly #move: ort.InferenceSession;
  readonly #architecture: Architecture;
  readonly #type: FloatType;

  static async create(architecture: Architecture, type: FloatType): Promise<GpuRows> {
    const grow = await createGpuSession(writeOnnxModel(growRowsGraph(type)), 'gpu-buffer');
    try {
      const move = await createGpuSession(writeOnnxModel(moveRowsGraph(architecture, type)), 'cpu');
      return new GpuRows(grow, move, architecture, type);
    } catch (error) {
      await grow.release();
      throw error;
    }
  }

  private constructor(
    grow: ort.InferenceSession,
    move: ort.InferenceSession,
    architecture: Architecture,
    type: FloatType,
  ) {
    this.#grow = grow;
    this.#move = move;
    this.#architecture = architecture;
    this.#type = type;
  }

  /** Buffers of `capacity` rows, each [1, kvHeads, capacity, headDim], holding what `old` holds. Disposes of `old`. */
  async grow(old: GpuBuffers | undefined, capacity: number): Promise<GpuBuffers> {
    const grown: Record<string, ort.Tensor> = {};
    try {
      for (let layer = 0; layer < this.#architecture.layers; layer++) {
        for (const name of [`keys_${layer}`, `values_${layer}`]) {
          grown[name] = await this.#growOne(old?.[name] ?? this.#seed(), capacity);
        }
      }
    } catch (error) {
      disposeBuffers(grown);
      throw error;
    }
    if (old) disposeBuffers(old);
    return grown;
  }

  /** Copies rows `from` to `first`, `first` + 1, ... in place. */
  async move(buffers: GpuBuffers, from: readonly number[], first: number): Promise<void> {
    const { kvHeads } = this.#architecture;
    const to = new BigInt64Array(kvHeads * from.length * 3);
    for (let head = 0, at = 0; head < kvHeads; head++) {
      for (let i = 0; i < from.length; i++, at += 3) {
        to[at + 1] = BigInt(head);
        to[at + 2] = BigInt(first + i);
      }
    }
    const feeds = {
      ...buffers,
      from: new ort.Tensor('int64', BigInt64Array.from(from, BigInt), [from.length]),
      to: new ort.Tensor('int64', to, [1, kvHeads, from.length, 3]),
    };
    await runOnGpu(this.#move, feeds, asOutputs(buffers));
  }

  async dispose(): Promise<void> {
    await this.#grow.release();
    await this.#move.release();
  }

  async #growOne(rows: ort.Tensor, capacity: number): Promise<ort.Tensor> {
    const pads = new BigInt64Array(8);
    pads[6] = BigInt(capacity - rows.dims[2]);
    const feeds = { rows, pads: new ort.Tensor('int64', pads, [8]) };
    const { grown } = await runOnGpu(this.#grow, feeds, { grown: null });
    return grown;
  }

  /** One row of zeros in the host's memory, for the first buffers to grow from. */
  #seed(): ort.Tensor {
    const { kvHeads, headDim } = this.#architecture;
    const size = kvHeads * headDim;
    const shape = [1, kvHeads, 1, headDim];
    return this.#type === 'float32'
      ? new ort.Tensor('float32', new Float32Array(size), shape)
      : new ort.Tensor('float16', new Uint16Array(size), shape);
  }
}

/** The same buffers under the names of a graph's outputs: written in place. */
export function asOutputs(buffers: GpuBuffers): Record<string, ort.Tensor> {
  const outputs: Record<string, ort.Tensor> = {};
  for (const [name, buffer] of Object.entries(buffers)) outputs[name.replace('_', '_out_')] = buffer;
  return outputs;
}

export function disposeBuffers(buffers: GpuBuffers): void {
  for (const buffer of Object.values(buffers)) buffer.dispose();
}
