import type { FileHandle } from 'node:fs/promises';
import { corrupt, unsupported } from './fileFault.ts';
import { haveOverlap } from './overlap.ts';
import { bytesPerElement, elementCount, type StoredTensor, type StoredType } from './storedTensor.ts';
import { openWeightFile } from './weightFile.ts';

// The reference implementation refuses larger headers too (safetensors, MAX_HEADER_SIZE).
const MAX_HEADER_BYTES = 100_000_000;

/**
 * Reads the header of a safetensors file (8 bytes little-endian length, JSON, data) and checks every tensor
 * against the file's real size, so that a truncated download is refused before anything is allocated for it.
 *
 * @throws SlipstreamError model.notFound, model.corrupt, model.unsupported, io, each naming the file
 */
export async function readSafetensorsHeader(file: string): Promise<Map<string, StoredTensor>> {
  const handle = await openWeightFile(file);
  try {
    const { size } = await handle.stat();
    const { header, dataStart } = await readHeader(handle, file, size);
    return parseTensors(header, file, dataStart, size);
  } finally {
    await handle.close();
  }
}

async function readHeader(handle: FileHandle, file: string, size: number) {
  if (size < 10) throw corrupt(file, `is only ${size} bytes long; the download may be incomplete`);
  const { buffer: prefix } = await handle.read(Buffer.alloc(8), 0, 8, 0);
  const length = prefix.readBigUInt64LE();
  if (length > BigInt(Math.min(MAX_HEADER_BYTES, size - 8))) {
    throw corrupt(file, `is not a safetensors file (its header would be ${length} bytes long)`);
  }
  const headerLength = Number(length);
  const { buffer } = await handle.read(Buffer.alloc(headerLength), 0, headerLength, 8);
  try {
    const header: unknown = JSON.parse(buffer.toString('utf8'));
    if (typeof header !== 'object' || header === null || Array.isArray(header)) throw new Error('no object');
    return { header: header as Record<string, unknown>, dataStart: 8 + headerLength };
  } catch (cause) {
    throw corrupt(file, 'has a header that is not valid JSON', cause);
  }
}

function parseTensors(header: Record<string, unknown>, file: string, dataStart: number, size: number) {
  const tensors = new Map<string, StoredTensor>();
  for (const [name, value] of Object.entries(header)) {
    if (name === '__metadata__') continue;
    tensors.set(name, parseTensor(name, value, file, dataStart, size));
  }
  if (haveOverlap(tensors.values())) throw corrupt(file, 'has tensors that overlap');
  return tensors;
}

function parseTensor(
  name: string,
  value: unknown,
  file: string,
  dataStart: number,
  size: number,
): StoredTensor {
  const { dtype, shape, data_offsets: offsets } = (value ?? {}) as Record<string, unknown>;
  if (typeof dtype !== 'string' || !isSizes(shape) || !isSizes(offsets) || offsets.length !== 2) {
    throw corrupt(file, `describes tensor ${name} wrongly`);
  }
  if (!Object.hasOwn(bytesPerElement, dtype)) {
    throw unsupported(file, `stores tensor ${name} as ${dtype}; F32, F16 and BF16 checkpoints can be read`);
  }
  const type = dtype as StoredType;
  const byteLength = offsets[1] - offsets[0];
  const expected = elementCount(shape) * bytesPerElement[type];
  if (byteLength !== expected) {
    throw corrupt(file, `gives tensor ${name} ${byteLength} bytes where its shape needs ${expected}`);
  }
  if (dataStart + offsets[1] > size) {
    throw corrupt(file, `ends before tensor ${name}; the download may be incomplete`);
  }
  return { file, type, shape, offset: dataStart + offsets[0], byteLength };
}

function isSizes(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.every((item) => Number.isSafeInteger(item) && item >= 0);
}
