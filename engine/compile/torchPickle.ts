import type { FileHandle } from 'node:fs/promises';
import type { SlipstreamError } from '../errors.ts';
import { corrupt, unsupported } from './fileFault.ts';
import { bytesPerElement, elementCount, type StoredTensor, type StoredType } from './storedTensor.ts';
import { type ArchiveEntry, readArchive, readEntry } from './torchPickleArchive.ts';
import { isNode, type PickleNode, type PickleValue, readPickle } from './torchPickleValue.ts';
import { openWeightFile } from './weightFile.ts';

const STATE_DICT = 'collections OrderedDict';
const TENSOR = 'torch._utils _rebuild_tensor_v2';
const PARAMETER = 'torch._utils _rebuild_parameter';
const storageTypes: Readonly<Record<string, StoredType>> = {
  'torch FloatStorage': 'F32',
  'torch HalfStorage': 'F16',
  'torch BFloat16Storage': 'BF16',
  'torch LongStorage': 'I64',
  'torch BoolStorage': 'BOOL',
};
const knownGlobals = new Set([STATE_DICT, TENSOR, PARAMETER, ...Object.keys(storageTypes)]);

/** A list of 5000 tensors. Its values take some hundred times as much while it is read. */
const MAX_PICKLE_BYTES = 1 << 20;
/** Compressed data of which tensors are parts. */
const LARGEST_SHARED_DEFLATED = 1 << 26;

/**
 * The tensors of a file that `torch.save(model.state_dict(), file)` wrote (PyTorch 1.6 and later): a zip archive of a pickle,
 * which is read but not run, and of one entry a storage (torch/serialization.py, torch/_utils.py).
 *
 * @throws SlipstreamError model.notFound, model.corrupt, model.unsupported, io, each naming the file
 */
export async function readTorchTensors(file: string): Promise<Map<string, StoredTensor>> {
  const handle = await openWeightFile(file);
  try {
    const { size } = await handle.stat();
    await checkFormat(handle, file);
    const entries = await readArchive(handle, file, size);
    const { root, pickle } = findPickle(entries, file);
    await checkByteOrder(handle, entries.get(`${root}byteorder`), file);
    const value = readPickle(await readEntry(handle, file, pickle), file, knownGlobals);
    return new TensorReader(file, entries, root).readAll(value);
  } finally {
    await handle.close();
  }
}

async function checkFormat(handle: FileHandle, file: string): Promise<void> {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(2), 0, 2, 0);
  if (bytesRead === 2 && buffer[0] === 0x80 && buffer[1] >= 2 && buffer[1] <= 5) {
    throw unsupported(
      file,
      'is in the format of PyTorch before 1.6; load it and save it again with a newer one',
    );
  }
}

/** All entries lie in one folder, which is named after the file that was written. */
function findPickle(entries: ReadonlyMap<string, ArchiveEntry>, file: string) {
  const names = [...entries.keys()].filter((name) => /^([^/]*\/)?data\.pkl$/.test(name));
  const pickle = entries.get(names[0]);
  if (names.length !== 1 || !pickle) throw corrupt(file, 'is not a file of tensors that PyTorch wrote');
  if (pickle.inflatedLength > MAX_PICKLE_BYTES) throw corrupt(file, 'has a list of tensors that is too long');
  return { root: names[0].slice(0, -'data.pkl'.length), pickle };
}

async function checkByteOrder(handle: FileHandle, entry: ArchiveEntry | undefined, file: string) {
  if (!entry || entry.inflatedLength > 16) return;
  const order = Buffer.from(await readEntry(handle, file, entry)).toString();
  if (order !== 'little')
    throw unsupported(file, 'was written on a big-endian machine; save it again on another');
}

/** Turns the description of a state dict into tensors whose places in the file are known. */
class TensorReader {
  readonly #file: string;
  readonly #entries: ReadonlyMap<string, ArchiveEntry>;
  readonly #root: string;

  constructor(file: string, entries: ReadonlyMap<string, ArchiveEntry>, root: string) {
    this.#file = file;
    this.#entries = entries;
    this.#root = root;
  }

  readAll(value: PickleValue): Map<string, StoredTensor> {
    if (!isNode(value) || !(value.kind === 'dict' || isCallOf(value, STATE_DICT))) {
      throw unsupported(this.#file, 'does not hold a dict of tensors');
    }
    const tensors = new Map<string, StoredTensor>();
    for (const [name, tensor] of value.items) {
      if (typeof name !== 'string') throw unsupported(this.#file, 'holds tensors without names');
      tensors.set(name, this.#tensor(name, tensor));
    }
    return tensors;
  }

  #tensor(name: string, value: PickleValue): StoredTensor {
    const call = isNode(value) && isCallOf(value, PARAMETER) ? value.arguments[0] : value;
    if (!isNode(call) || !isCallOf(call, TENSOR)) {
      throw unsupported(this.#file, `holds "${name}", which is not a tensor`);
    }
    const [storage, start, size, stride] = call.arguments;
    const shape = sizes(size);
    const strides = sizes(stride);
    if (!shape || strides?.length !== shape.length || !isSize(start)) throw this.#wrong(name);
    if (!isContiguous(shape, strides)) {
      throw unsupported(this.#file, `keeps tensor ${name} transposed or spread; save it after .contiguous()`);
    }
    const { type, length, entry } = this.#storage(name, storage);
    const count = elementCount(shape);
    if (start + count > length) throw corrupt(this.#file, `gives tensor ${name} more than is stored of it`);
    // Inflated whole for each of its parts. PyTorch itself does not compress.
    if (entry.method === 'deflated' && count < length && entry.inflatedLength > LARGEST_SHARED_DEFLATED) {
      throw unsupported(
        this.#file,
        `keeps tensor ${name} as a part of compressed data; save it with torch.save`,
      );
    }
    return this.#place(entry, type, shape, start, count);
  }

  #place(
    entry: ArchiveEntry,
    type: StoredType,
    shape: readonly number[],
    start: number,
    count: number,
  ): StoredTensor {
    const bytes = bytesPerElement[type];
    const common = { file: this.#file, type, shape, byteLength: count * bytes };
    if (entry.method === 'stored') return { ...common, offset: entry.offset + start * bytes };
    return { ...common, offset: start * bytes, deflated: entry };
  }

  /** ('storage', type, key, the device it was on, elements) */
  #storage(name: string, value: PickleValue | undefined) {
    const id = isNode(value) && value.kind === 'persistent' ? value.id : undefined;
    const [tag, type, key, , length] = (isNode(id) && id.kind === 'tuple' && id.items) || [];
    if (tag !== 'storage' || typeof key !== 'string' || !isSize(length)) throw this.#wrong(name);
    const stored = isNode(type) && type.kind === 'global' ? storageTypes[type.name] : undefined;
    if (!stored) throw this.#wrong(name);
    const entry = this.#entries.get(`${this.#root}data/${key}`);
    if (entry?.inflatedLength !== length * bytesPerElement[stored]) {
      throw corrupt(this.#file, `does not hold the data of tensor ${name}; the download may be incomplete`);
    }
    return { type: stored, length, entry };
  }

  #wrong(name: string): SlipstreamError {
    return corrupt(this.#file, `describes tensor ${name} wrongly`);
  }
}

function isCallOf(node: PickleNode, name: string): node is PickleNode & { kind: 'call' } {
  return node.kind === 'call' && node.function === name;
}

function sizes(value: PickleValue | undefined): readonly number[] | undefined {
  if (!isNode(value) || value.kind !== 'tuple') return undefined;
  return value.items.every(isSize) ? (value.items as readonly number[]) : undefined;
}

function isSize(value: PickleValue | undefined): value is number {
  return typeof value === 'number' && value >= 0;
}

/** Row-major without gaps; the stride of a dimension of one element says nothing. */
function isContiguous(shape: readonly number[], strides: readonly number[]): boolean {
  let expected = 1;
  for (let i = shape.length - 1; i >= 0; i--) {
    if (shape[i] !== 1 && strides[i] !== expected) return shape.includes(0);
    expected *= shape[i];
  }
  return true;
}
