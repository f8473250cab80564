import { join } from 'node:path';
import { type Checkpoint, weightFiles } from '../compile/checkpoint.ts';
import { type CompiledGraph, GraphCache } from '../compile/graphCache.ts';
import type { MedusaHead } from '../compile/heads/head.ts';
import { buildMedusaGraph } from '../compile/heads/medusaGraph.ts';
import { decoderKernels, type Precision } from '../compile/precision.ts';
import { checkHeadComputesNumbers, impossibleWhereNaN } from './computesNumbers.ts';
import { cpuFault } from './cpuFault.ts';
import { type LoadOptions, loadCompiled } from './cpuSession.ts';
import * as ort from './onnxruntime.ts';

/** Part of every cache key: raise it when the same heads would compile to another graph. */
const COMPILER_VERSION = 3;

export interface MedusaOptions extends LoadOptions {
  readonly precision: Precision;
  readonly cacheDir: string;
  /** Heads to compute, the first ones. Absent: all. */
  readonly heads?: number | undefined;
}

/** What the heads predict from one position. */
export interface MedusaPrediction {
  /** Candidates of a head. */
  readonly candidates: number; // k
  /** Head i: the token i + 2 places after the position. Best first. */
  readonly tokens: Int32Array; // [heads, k]
  readonly logProbs: Float32Array; // [heads, k]
}

/** Medusa heads, loaded. On the CPU wherever the target runs: one row is too little work to send to a device. */
export class MedusaHeads {
  readonly heads: number;
  /** Of the weights. */
  readonly bytes: number;
  readonly #session: ort.InferenceSession;

  private constructor(session: ort.InferenceSession, heads: number, bytes: number) {
    this.#session = session;
    this.heads = heads;
    this.bytes = bytes;
  }

  /**
   * @param target the model that the heads draft for: its final norm is part of their graph
   * @throws SlipstreamError usage when the CPU does not run the precision, model.corrupt, outOfMemory, io
   */
  static async open(head: MedusaHead, target: Checkpoint, options: MedusaOptions): Promise<MedusaHeads> {
    const heads = Math.min(options.heads ?? head.heads.length, head.heads.length);
    const compile = () => compileMedusa(head, target, { ...options, heads });
    const { session, compiled } = await loadCompiled(compile, options);
    const opened = new MedusaHeads(session, heads, compiled.weightBytes);
    try {
      const feature = new Float32Array(target.architecture.hiddenSize).fill(1);
      const { candidates, logProbs } = await opened.predict(feature);
      checkHeadComputesNumbers(
        head.dir,
        logProbs.filter((_, i) => i % candidates === 0),
      );
      return opened;
    } catch (error) {
      await opened.dispose();
      throw error;
    }
  }

  /** @param feature [hidden], the stream before the target's final norm at the position */
  async predict(feature: Float32Array): Promise<MedusaPrediction> {
    const { tokens, log_probs: logProbs } = await this.#run(feature);
    return {
      candidates: tokens.dims[1],
      tokens: Int32Array.from(tokens.data as BigInt64Array, Number),
      logProbs: impossibleWhereNaN(logProbs.data as Float32Array),
    };
  }

  dispose(): Promise<void> {
    return this.#session.release();
  }

  async #run(feature: Float32Array): Promise<ort.InferenceSession.OnnxValueMapType> {
    const feeds = { feature: new ort.Tensor('float32', feature, [1, feature.length]) };
    try {
      return await this.#session.run(feeds, ['tokens', 'log_probs']);
    } catch (cause) {
      throw cpuFault(cause, (said) => ({
        code: 'internal',
        message: `The Medusa heads could not be run: ${said}`,
      }));
    }
  }
}

async function compileMedusa(
  head: MedusaHead,
  target: Checkpoint,
  { precision, cacheDir, heads }: Pick<MedusaOptions, 'precision' | 'cacheDir'> & { readonly heads: number },
): Promise<CompiledGraph> {
  const kernels = decoderKernels('cpu', precision, 'one');
  return new GraphCache(cacheDir).compile(
    {
      label: `${target.name}-${head.name}-cpu-${precision}`,
      files: [...head.files, join(target.dir, 'config.json'), ...(await weightFiles(target.dir))],
      parameters: [COMPILER_VERSION, 'medusa', precision, heads],
    },
    (weights) => buildMedusaGraph(head, target, { kernels, heads }, weights),
  );
}
