import type { FileHandle } from 'node:fs/promises';
import { inflateRawSync } from 'node:zlib';
import { SlipstreamError } from '../errors.ts';
import { unreadable } from './fileFault.ts';
import { toFloat32 } from './floats.ts';
import { openWeightFile } from './weightFile.ts';

export type StoredType = 'F32' | 'F16' | 'BF16' | 'I64' | 'BOOL';
export const bytesPerElement: Readonly<Record<StoredType, number>> = {
  F32: 4,
  F16: 2,
  BF16: 2,
  I64: 8,
  BOOL: 1,
};

/** A range of a file, in bytes. */
export interface FileRange {
  /** Absolute. */
  readonly offset: number;
  readonly byteLength: number;
}

/** Where one tensor lies in a file, row-major. */
export interface StoredTensor extends FileRange {
  readonly file: string;
  readonly type: StoredType;
  readonly shape: readonly number[];
  /** Set where the file keeps the tensor's bytes compressed: `offset` then counts in what this range inflates to. */
  readonly deflated?: (FileRange & { readonly inflatedLength: number }) | undefined;
}

/** A tensor with the name its file gives it. */
export interface NamedTensor extends StoredTensor {
  readonly name: string;
}

export function elementCount(shape: readonly number[]): number {
  return shape.reduce((product, dimension) => product * dimension, 1);
}

/**
 * The values of a tensor stored as floats, as float32.
 *
 * @throws SlipstreamError model.notFound, model.corrupt, io, naming file and tensor: one value that is no number makes every
 *   output none
 */
export async function readFloats(tensor: NamedTensor): Promise<Float32Array> {
  const values = toFloat32(await readBytes(tensor), tensor.type);
  if (values.every(Number.isFinite)) return values;
  throw new SlipstreamError(
    'model.corrupt',
    `${tensor.file}: ${tensor.name} holds values that are not numbers.`,
  );
}

/** A tensor's bytes, as its type stores them. */
export async function readBytes(tensor: NamedTensor): Promise<Uint8Array> {
  const { name, file, deflated } = tensor;
  // The file was there when its header was read; meanwhile it may have been moved.
  const handle = await openWeightFile(file);
  try {
    const bytes = await readRange(handle, file, deflated ?? tensor);
    if (!bytes) throw new SlipstreamError('model.corrupt', `${file} ends inside ${name}.`);
    if (!deflated) return bytes;
    const inflated = inflate(bytes, deflated.inflatedLength);
    if (!inflated) throw new SlipstreamError('model.corrupt', `${file}: ${name} is damaged.`);
    return inflated.subarray(tensor.offset, tensor.offset + tensor.byteLength);
  } finally {
    await handle.close();
  }
}

/**
 * @returns undefined when the file ends before the range
 * @throws SlipstreamError io
 */
export async function readRange(
  handle: FileHandle,
  file: string,
  { offset, byteLength }: FileRange,
): Promise<Uint8Array | undefined> {
  const bytes = new Uint8Array(byteLength);
  // One read call is capped at 2 GiB by the platform.
  for (let done = 0; done < bytes.length; ) {
    const length = Math.min(bytes.length - done, 2 ** 30);
    const { bytesRead } = await handle.read(bytes, done, length, offset + done).catch((cause) => {
      throw unreadable(file, cause);
    });
    if (bytesRead === 0) return undefined;
    done += bytesRead;
  }
  return bytes;
}

/** @returns undefined when the bytes do not inflate to exactly `length` */
export function inflate(bytes: Uint8Array, length: number): Uint8Array | undefined {
  try {
    // One byte more than expected is enough to tell that there is more.
    const inflated = inflateRawSync(bytes, { maxOutputLength: length + 1 });
    return inflated.length === length ? inflated : undefined;
  } catch {
    return undefined;
  }
}
