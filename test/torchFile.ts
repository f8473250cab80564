/** Writes files as `torch.save` does, and such as it never would. */
import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipEntry {
  readonly name: string;
  readonly data: Uint8Array;
  readonly method?: 'stored' | 'deflated';
  /** What the central directory says instead of the truth. */
  readonly claims?: Partial<Record<'offset' | 'size' | 'inflatedSize' | 'flags', number>>;
}

export function zip(entries: readonly ZipEntry[]): Buffer {
  const files: Buffer[] = [];
  const directory: Buffer[] = [];
  let offset = 0;
  for (const { name, data, method = 'stored', claims = {} } of entries) {
    const stored = method === 'stored' ? Buffer.from(data) : deflateRawSync(data);
    const header = Buffer.alloc(26);
    header.writeUInt16LE(20, 0); // version
    header.writeUInt16LE(claims.flags ?? 0, 2);
    header.writeUInt16LE(method === 'stored' ? 0 : 8, 4);
    header.writeUInt32LE(crc32(data), 10);
    header.writeUInt32LE(claims.size ?? stored.length, 14);
    header.writeUInt32LE(claims.inflatedSize ?? data.length, 18);
    header.writeUInt16LE(name.length, 22);
    files.push(Buffer.from('PK\x03\x04'), header, Buffer.from(name), stored);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE(claims.offset ?? offset, 10);
    directory.push(Buffer.from('PK\x01\x02\x14\x00'), header, rest, Buffer.from(name));
    offset += 30 + name.length + stored.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(entries.length, 4);
  end.writeUInt16LE(entries.length, 6);
  end.writeUInt32LE(size, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...files, ...directory, Buffer.from('PK\x05\x06'), end]);
}

/** Parts of a pickle of protocol 2. */
export const pickle = {
  start: Buffer.from([0x80, 2]),
  stop: Buffer.from('.'),
  mark: Buffer.from('('),
  global: (module: string, name: string) => Buffer.from(`c${module}\n${name}\n`),
  text(value: string): Buffer {
    const bytes = Buffer.from(value);
    const length = Buffer.alloc(4);
    length.writeUInt32LE(bytes.length);
    return Buffer.concat([Buffer.from('X'), length, bytes]);
  },
  int(value: number): Buffer {
    const bytes = Buffer.alloc(10);
    bytes[0] = 0x8a;
    bytes[1] = 8;
    bytes.writeBigInt64LE(BigInt(value), 2);
    return bytes;
  },
  tuple: (...items: Buffer[]) => Buffer.concat([pickle.mark, ...items, Buffer.from('t')]),
  call: (callee: Buffer, ...args: Buffer[]) =>
    Buffer.concat([callee, pickle.tuple(...args), Buffer.from('R')]),
  persistent: (id: Buffer) => Buffer.concat([id, Buffer.from('Q')]),
  /** Sets items on what was written before. */
  items: (...pairs: Buffer[]) => Buffer.concat([pickle.mark, ...pairs, Buffer.from('u')]),
};

const stateDict = pickle.global('collections', 'OrderedDict');
const no = Buffer.from([0x89]);

export interface TorchTensor {
  readonly name: string;
  /** FloatStorage and so on. */
  readonly storage: string;
  readonly key: string;
  /** Of the storage. */
  readonly elements: number;
  readonly shape: readonly number[];
  readonly stride?: readonly number[];
  readonly start?: number;
  readonly parameter?: boolean;
}

export function pickledTensor(tensor: TorchTensor): Buffer {
  const { storage, key, elements, shape, stride = rowMajor(shape), start = 0 } = tensor;
  const id = pickle.tuple(
    pickle.text('storage'),
    pickle.global('torch', storage),
    pickle.text(key),
    pickle.text('cpu'),
    pickle.int(elements),
  );
  const built = pickle.call(
    pickle.global('torch._utils', '_rebuild_tensor_v2'),
    pickle.persistent(id),
    pickle.int(start),
    pickle.tuple(...shape.map(pickle.int)),
    pickle.tuple(...stride.map(pickle.int)),
    no,
    pickle.call(stateDict),
  );
  if (!tensor.parameter) return built;
  return pickle.call(pickle.global('torch._utils', '_rebuild_parameter'), built, no, pickle.call(stateDict));
}

export function pickledStateDict(tensors: readonly TorchTensor[]): Buffer {
  const pairs = tensors.flatMap((tensor) => [pickle.text(tensor.name), pickledTensor(tensor)]);
  return Buffer.concat([pickle.start, pickle.call(stateDict), pickle.items(...pairs), pickle.stop]);
}

/** @param storages by key */
export function torchFile(
  list: Buffer,
  storages: Readonly<Record<string, Uint8Array>>,
  method: ZipEntry['method'] = 'stored',
): Buffer {
  const data = Object.entries(storages).map(([key, bytes]) => ({
    name: `head/data/${key}`,
    data: bytes,
    method,
  }));
  const version = { name: 'head/version', data: Buffer.from('3\n') };
  return zip([{ name: 'head/data.pkl', data: list, method }, ...data, version]);
}

export function bytesOf(array: Float32Array | BigInt64Array | Uint8Array | Uint16Array): Buffer {
  return Buffer.from(array.buffer, array.byteOffset, array.byteLength);
}

function rowMajor(shape: readonly number[]): number[] {
  return shape.map((_, i) => shape.slice(i + 1).reduce((product, size) => product * size, 1));
}
