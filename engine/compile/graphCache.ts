import { createHash, randomUUID } from 'node:crypto';
import { open, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFault, makeFolder } from '../cacheFolder.ts';
import { outOfMemoryFault, SlipstreamError } from '../errors.ts';
import { checksumOf } from './checksum.ts';
import { ContentHasher } from './contentHash.ts';
import { type OnnxGraph, writeOnnxModel } from './onnxModel.ts';
import { WeightWriter } from './weightWriter.ts';

const WEIGHTS_FILE = 'weights.bin';
const GRAPH_FILE = 'model.onnx';
const MANIFEST_FILE = 'manifest.json';
/** Part of every key: raise it when entries are written in another way. */
const ENTRY_VERSION = 2;
/** A compilation that was killed leaves its folder; after this long nobody is working in it. */
const ABANDONED_MS = 3_600_000;
/** Entries that are kept; the ones not used for longest go. A model has a few: by device, precision, version, head. */
const KEPT_ENTRIES = 24;
/** Of large models fewer, but the last few always: each algorithm may need a copy of its own. */
const KEPT_BYTES = 16 * 2 ** 30;
const KEPT_WHATEVER_SIZE = 4;

/** A graph on disk with its weights. */
export interface CompiledGraph {
  readonly graphFile: string;
  readonly weightBytes: number;
  /** Names this graph among all compiled ones: what is measured on it can be kept under it. */
  readonly key: string;
}

/** What makes one compiled graph different from all others. */
export interface GraphIdentity {
  /** Begins the entry's name, for people who look into the folder. */
  readonly label: string;
  /** What it is compiled from: by content, wherever the files lie. */
  readonly files: readonly string[];
  /** All else that decides what comes out, the compiler's version first. */
  readonly parameters: readonly unknown[];
}

/** A file as it was written. */
interface WrittenFile {
  readonly bytes: number;
  readonly checksum: number;
}

interface Manifest {
  readonly graph: WrittenFile;
  readonly weights: WrittenFile;
}

/** Forgets a compiled graph that turned out to be damaged, so that the next call compiles it again. */
export async function discardCompiled({ graphFile }: CompiledGraph): Promise<void> {
  const folder = dirname(graphFile);
  await rm(folder, { recursive: true, force: true }).catch((cause) => {
    throw new SlipstreamError('io', `${folder}: the damaged model cannot be removed (${cause.message}).`, {
      cause,
    });
  });
}

/** Compiled graphs in the cache folder. Written beside and renamed, so that a half-written graph is never used. */
export class GraphCache {
  readonly #cacheDir: string;
  readonly #root: string;
  readonly #hasher: ContentHasher;

  constructor(cacheDir: string) {
    this.#cacheDir = cacheDir;
    this.#root = join(cacheDir, 'compiled');
    this.#hasher = new ContentHasher(join(cacheDir, 'content-hashes.json'));
  }

  /**
   * @param build writes the weights and returns the graph that reads them; called when there is no such entry
   * @throws SlipstreamError io when a file cannot be read or the folder not be written; what `build` throws
   */
  async compile(
    identity: GraphIdentity,
    build: (weights: WeightWriter) => Promise<OnnxGraph>,
  ): Promise<CompiledGraph> {
    const key = await this.#key(identity);
    const folder = join(this.#root, key);
    const cached = await readManifest(folder);
    if (cached) {
      await markUsed(folder);
      void this.#removeAbandoned(); // in its own time: nothing waits for it
    }
    const { weights } = cached ?? (await this.#compileInto(folder, build));
    return { graphFile: join(folder, GRAPH_FILE), weightBytes: weights.bytes, key };
  }

  async #key({ label, files, parameters }: GraphIdentity): Promise<string> {
    const content = await this.#hasher.hash(files).catch((cause) => {
      throw new SlipstreamError('io', `${dirname(files[0])}: cannot be read (${cause.message}).`, { cause });
    });
    const hash = createHash('sha256').update(JSON.stringify([ENTRY_VERSION, content, ...parameters]));
    return `${label.replace(/[^\w.-]/g, '_')}-${hash.digest('hex').slice(0, 24)}`;
  }

  async #compileInto(folder: string, build: (weights: WeightWriter) => Promise<OnnxGraph>) {
    const partial = `${folder}.partial-${randomUUID()}`;
    try {
      await this.#removeAbandoned();
      await this.#removeUnused();
      await makeFolder(partial);
      return await publish(partial, folder, await writeCompiled(partial, build));
    } catch (cause) {
      const fault = outOfMemoryFault(cause);
      const isOfFiles = (cause as NodeJS.ErrnoException).code !== undefined;
      if (fault || !isOfFiles || cause instanceof SlipstreamError) throw fault ?? cause;
      throw cacheFault(this.#cacheDir, cause as NodeJS.ErrnoException);
    } finally {
      await rm(partial, { recursive: true, force: true }).catch(() => {});
    }
  }

  async #removeAbandoned(): Promise<void> {
    for (const name of await readdir(this.#root).catch(() => [])) {
      if (!name.includes('.partial-')) continue;
      const folder = join(this.#root, name);
      // By what was written last: a machine may have slept for hours in the middle.
      const written = await stat(join(folder, WEIGHTS_FILE)).catch(() => stat(folder).catch(() => undefined));
      if (written && Date.now() - written.mtimeMs > ABANDONED_MS) await removeIfPossible(folder);
    }
  }

  async #removeUnused(): Promise<void> {
    const entries: { folder: string; usedMs: number; bytes: number }[] = [];
    for (const name of await readdir(this.#root).catch(() => [])) {
      const folder = join(this.#root, name);
      const manifest = await stat(join(folder, MANIFEST_FILE)).catch(() => undefined);
      const weights = await stat(join(folder, WEIGHTS_FILE)).catch(() => undefined);
      if (!manifest || name.includes('.partial-')) continue;
      entries.push({ folder, usedMs: manifest.mtimeMs, bytes: weights?.size ?? 0 });
    }
    entries.sort((a, b) => b.usedMs - a.usedMs);
    let bytes = 0;
    for (const [i, entry] of entries.entries()) {
      bytes += entry.bytes;
      const isTooMuch = i >= KEPT_ENTRIES - 1 || (i >= KEPT_WHATEVER_SIZE && bytes > KEPT_BYTES);
      if (isTooMuch) await removeIfPossible(entry.folder);
    }
  }
}

/** One that is in use cannot be removed everywhere; it goes another time. */
async function removeIfPossible(folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true }).catch(() => {});
}

/** The manifest of a complete entry; undefined when there is none or a file is not as it was written. */
async function readManifest(folder: string): Promise<Manifest | undefined> {
  try {
    const manifest: Manifest = JSON.parse(await readFile(join(folder, MANIFEST_FILE), 'utf8'));
    const isWhole =
      (await isAsWritten(join(folder, GRAPH_FILE), manifest.graph)) &&
      (await isAsWritten(join(folder, WEIGHTS_FILE), manifest.weights));
    return isWhole ? manifest : undefined;
  } catch {
    return undefined;
  }
}

async function isAsWritten(file: string, { bytes, checksum }: WrittenFile): Promise<boolean> {
  return (await stat(file)).size === bytes && (await checksumOf(file)) === checksum;
}

async function asWritten(file: string): Promise<WrittenFile> {
  return { bytes: (await stat(file)).size, checksum: await checksumOf(file) };
}

/** A read-only cache still works; it only forgets what was used last. */
async function markUsed(folder: string): Promise<void> {
  const now = new Date();
  await utimes(join(folder, MANIFEST_FILE), now, now).catch(() => {});
}

async function writeCompiled(
  folder: string,
  build: (weights: WeightWriter) => Promise<OnnxGraph>,
): Promise<Manifest> {
  const [graphFile, weightsFile] = [join(folder, GRAPH_FILE), join(folder, WEIGHTS_FILE)];
  const graph = await writeWeights(weightsFile, build);
  await writeFile(graphFile, writeOnnxModel(graph), { flush: true });
  const manifest = { graph: await asWritten(graphFile), weights: await asWritten(weightsFile) };
  await writeFile(join(folder, MANIFEST_FILE), JSON.stringify(manifest), { flush: true });
  return manifest;
}

async function writeWeights(
  file: string,
  build: (weights: WeightWriter) => Promise<OnnxGraph>,
): Promise<OnnxGraph> {
  const handle = await open(file, 'wx');
  try {
    const graph = await build(new WeightWriter(handle, WEIGHTS_FILE));
    await handle.sync();
    return graph;
  } finally {
    await handle.close();
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
