import { join } from 'node:path';
import { type Checkpoint, openCheckpoint, weightFiles } from './checkpoint.ts';
import { buildDecoderGraph } from './decoderGraph.ts';
import { type CompiledGraph, GraphCache } from './graphCache.ts';
import { type Device, decoderKernels, type Precision, type ProductRows } from './precision.ts';
import { type ModelOutputs, predictionsOnly } from './targetOutputs.ts';

/** Part of every cache key: raise it when the same checkpoint would compile to another graph. */
const COMPILER_VERSION = 14;
/** Rotary tables are this long at most; 32k positions of a 64-wide head are 8 MB. */
export const LONGEST_CONTEXT = 32768;

export interface CompileOptions extends Partial<ModelOutputs> {
  /** Default: cpu. */
  readonly device?: Device;
  readonly precision: Precision;
  /** Default: several. */
  readonly rows?: ProductRows;
  readonly cacheDir: string;
}

export interface CompiledModel extends CompiledGraph, ModelOutputs {
  readonly checkpoint: Checkpoint;
  readonly device: Device;
  readonly precision: Precision;
}

/**
 * A checkpoint as an ONNX graph on disk, from the cache where it is there already (key: content of the checkpoint,
 * compiler version, device, precision, rows, outputs).
 *
 * @throws SlipstreamError model.* for a bad checkpoint, usage when the device cannot run the precision, io when the
 *   cache folder cannot be written
 */
export async function compileModel(dir: string, options: CompileOptions): Promise<CompiledModel> {
  const { device = 'cpu', precision, rows = 'several', cacheDir } = options;
  const { taps, logProbs, ...asked } = { ...predictionsOnly, ...options };
  const kernels = decoderKernels(device, precision, rows);
  const opened = await openCheckpoint(dir);
  const contextLength = Math.min(opened.architecture.contextLength, LONGEST_CONTEXT);
  const checkpoint = { ...opened, architecture: { ...opened.architecture, contextLength } };
  const successors = Math.min(asked.successors, opened.architecture.vocabSize);
  const outputs = { taps, successors, logProbs };
  const graph = await new GraphCache(cacheDir).compile(
    {
      label: `${checkpoint.name}-${device}-${precision}`,
      files: [join(dir, 'config.json'), ...(await weightFiles(dir))],
      parameters: [COMPILER_VERSION, device, precision, rows, taps, successors, logProbs],
    },
    (weights) => buildDecoderGraph(checkpoint, { ...kernels, ...outputs }, weights),
  );
  return { checkpoint, device, precision, ...outputs, ...graph };
}
