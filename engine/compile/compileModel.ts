import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { SlipstreamError } from '../errors.ts';
import { type Checkpoint, openCheckpoint, weightFiles } from './checkpoint.ts';
import { ContentHasher } from './contentHash.ts';
import { buildDecoderGraph, type DecoderGraphOptions } from './decoderGraph.ts';
import { writeOnnxModel } from './onnxModel.ts';
import { type Device, decoderKernels, type Precision } from './precision.ts';
import { type ModelOutputs, predictionsOnly } from './targetOutputs.ts';
import { WeightWriter } from './weightWriter.ts';

/** Part of every cache key: raise it when the same checkpoint would compile to another graph. */
const COMPILER_VERSION = 7;
/** Rotary tables are this long at most; 32k positions of a 64-wide head are 8 MB. */
const LONGEST_CONTEXT = 32768;
const WEIGHTS_FILE = 'weights.bin';
const GRAPH_FILE = 'model.onnx';
const MANIFEST_FILE = 'manifest.json';
/** A compilation that was killed leaves its folder; after this long nobody is working in it. */
const ABANDONED_MS = 3_600_000;
/** Entries that are kept; the ones not used for longest go. A model has a few: by device, precision, version. */
const KEPT_ENTRIES = 24;

export interface CompileOptions extends Partial<ModelOutputs> {
  /** Default: cpu. */
  readonly device?: Device;
  readonly precision: Precision;
  readonly cacheDir: string;
}

export interface CompiledModel extends ModelOutputs {
  readonly checkpoint: Checkpoint;
  readonly device: Device;
  readonly precision: Precision;
  readonly graphFile: string;
  readonly weightBytes: number;
  /** Names this graph among all compiled ones: what is measured on it can be kept under it. */
  readonly key: string;
}

interface Manifest {
  readonly graphBytes: number;
  readonly weightBytes: number;
}

/**
 * A checkpoint as an ONNX graph on disk, from the cache where it is there already (key: content of the checkpoint,
 * compiler version, device, precision, outputs). Written beside and renamed, so that a half-written graph is never used.
 *
 * @throws SlipstreamError model.* for a bad checkpoint, usage when the device cannot run the precision, io when the
 *   cache folder cannot be written
 */
export async function compileModel(dir: string, options: CompileOptions): Promise<CompiledModel> {
  const { device = 'cpu', precision, cacheDir } = options;
  const outputs = modelOutputs(options);
  const kernels = decoderKernels(device, precision);
  const opened = await openCheckpoint(dir);
  const contextLength = Math.min(opened.architecture.contextLength, LONGEST_CONTEXT);
  const checkpoint = { ...opened, architecture: { ...opened.architecture, contextLength } };
  const root = join(cacheDir, 'compiled');
  const key = await cacheKey(checkpoint, { device, precision, cacheDir, ...outputs });
  const folder = join(root, key);
  const cached = await readManifest(folder);
  if (cached) await markUsed(folder);
  const manifest = cached ?? (await compileInto(folder, root, checkpoint, { ...kernels, ...outputs }));
  const graphFile = join(folder, GRAPH_FILE);
  return {
    checkpoint,
    device,
    precision,
    ...outputs,
    graphFile,
    weightBytes: manifest.weightBytes,
    key,
  };
}

function modelOutputs(options: Partial<ModelOutputs>): ModelOutputs {
  const { taps, successors, logProbs } = predictionsOnly;
  return {
    taps: options.taps ?? taps,
    successors: options.successors ?? successors,
    logProbs: options.logProbs ?? logProbs,
  };
}

/** Forgets a compiled model that turned out to be damaged, so that the next call compiles it again. */
export async function discardCompiled({ graphFile }: CompiledModel): Promise<void> {
  await rm(dirname(graphFile), { recursive: true, force: true });
}

async function cacheKey(
  { dir, name }: Checkpoint,
  { device, precision, taps, successors, logProbs, cacheDir }: Required<CompileOptions>,
) {
  const files = [join(dir, 'config.json'), ...(await weightFiles(dir))];
  const content = await new ContentHasher(join(cacheDir, 'content-hashes.json'))
    .hash(files)
    .catch((cause) => {
      throw new SlipstreamError('io', `${dir}: cannot be read (${cause.message}).`, { cause });
    });
  const hash = createHash('sha256').update(
    JSON.stringify([COMPILER_VERSION, content, device, precision, taps, successors, logProbs]),
  );
  return `${name.replace(/[^\w.-]/g, '_')}-${device}-${precision}-${hash.digest('hex').slice(0, 24)}`;
}

/** The manifest of a complete entry; undefined when there is none or a file is not as it was written. */
async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const manifest: Manifest = JSON.parse(await readFile(join(folder, MANIFEST_FILE), 'utf8'));
    const graph = await stat(join(folder, GRAPH_FILE));
    const weights = await stat(join(folder, WEIGHTS_FILE));
    return graph.size === manifest.graphBytes && weights.size === manifest.weightBytes ? manifest : undefined;
  } catch {
    return undefined;
  }
}

async function compileInto(
  folder: string,
  root: string,
  checkpoint: Checkpoint,
  options: DecoderGraphOptions,
) {
  const partial = `${folder}.partial-${randomUUID()}-${Date.now()}`;
  try {
    await removeAbandoned(root);
    await removeUnused(root);
    await mkdir(partial, { recursive: true });
    const manifest = await writeCompiled(partial, checkpoint, options);
    return await publish(partial, folder, manifest);
  } catch (cause) {
    if (cause instanceof SlipstreamError) throw cause;
    const reason = (cause as NodeJS.ErrnoException).code === 'ENOSPC' ? 'the disk is full' : String(cause);
    throw new SlipstreamError('io', `${root}: the compiled model cannot be written: ${reason}.`, { cause });
  } finally {
    await rm(partial, { recursive: true, force: true }).catch(() => {});
  }
}

/** Gives the entry its name. Another process may have finished the same one meanwhile, and be reading it: it stays. */
async function publish(partial: string, folder: string, manifest: Manifest): Promise<Manifest> {
  try {
    await rename(partial, folder);
  } catch {
    const other = await readManifest(folder);
    if (other) return other;
    await rm(folder, { recursive: true, force: true });
    await rename(partial, folder);
  }
  return manifest;
}

async function writeCompiled(folder: string, checkpoint: Checkpoint, options: DecoderGraphOptions) {
  const handle = await open(join(folder, WEIGHTS_FILE), 'wx');
  const weights = new WeightWriter(handle, WEIGHTS_FILE);
  try {
    const graph = writeOnnxModel(await buildDecoderGraph(checkpoint, options, weights));
    await writeFile(join(folder, GRAPH_FILE), graph);
    const manifest: Manifest = { graphBytes: graph.length, weightBytes: weights.bytes };
    await writeFile(join(folder, MANIFEST_FILE), JSON.stringify(manifest));
    await handle.sync();
    return manifest;
  } finally {
    await handle.close();
  }
}

async function removeAbandoned(root: string): Promise<void> {
  for (const name of await readdir(root).catch(() => [])) {
    const written = /\.partial-[\w-]+-(\d+)$/.exec(name)?.[1];
    if (written && Date.now() - Number(written) > ABANDONED_MS) {
      await rm(join(root, name), { recursive: true, force: true });
    }
  }
}

/** A read-only cache still works; it only forgets what was used last. */
async function markUsed(folder: string): Promise<void> {
  const now = new Date();
  await utimes(join(folder, MANIFEST_FILE), now, now).catch(() => {});
}

async function removeUnused(root: string): Promise<void> {
  const entries: { folder: string; usedMs: number }[] = [];
  for (const name of await readdir(root).catch(() => [])) {
    const folder = join(root, name);
    const manifest = await stat(join(folder, MANIFEST_FILE)).catch(() => undefined);
    if (manifest && !name.includes('.partial-')) entries.push({ folder, usedMs: manifest.mtimeMs });
  }
  entries.sort((a, b) => b.usedMs - a.usedMs);
  for (const { folder } of entries.slice(KEPT_ENTRIES - 1)) {
    // One that is in use cannot be removed everywhere; it goes another time.
    await rm(folder, { recursive: true, force: true }).catch(() => {});
  }
}
