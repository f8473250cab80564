/**
 * GGUF, writing only: what llama.cpp needs to load a model
 * (https://github.com/ggml-org/ggml/blob/master/docs/gguf.md, version 3; little-endian).
 */

/** A value of the metadata, with the type that llama.cpp expects for its key. */
export type GgufValue =
  | { readonly type: 'uint32'; readonly value: number }
  | { readonly type: 'float32'; readonly value: number }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'strings'; readonly value: readonly string[] }
  | { readonly type: 'int32s'; readonly value: readonly number[] };

export type GgufTensorType = 'F32' | 'F16' | 'Q8_0';

export interface GgufTensor {
  readonly name: string;
  readonly type: GgufTensorType;
  /** Row-major, as the checkpoint has it: [rows, columns] or [columns]. */
  readonly shape: readonly number[];
  readonly data: Uint8Array;
}

export interface GgufModel {
  readonly metadata: ReadonlyMap<string, GgufValue>;
  readonly tensors: readonly GgufTensor[];
}

const VERSION = 3;
const ALIGNMENT = 32;
const valueTypes = { uint32: 4, int32: 5, float32: 6, bool: 7, string: 8, array: 9 } as const;
const tensorTypes: Readonly<Record<GgufTensorType, number>> = { F32: 0, F16: 1, Q8_0: 8 };

export function writeGguf({ metadata, tensors }: GgufModel): Uint8Array {
  const out = new ByteWriter();
  out.bytes(Buffer.from('GGUF')).uint32(VERSION).uint64(tensors.length).uint64(metadata.size);
  for (const [key, value] of metadata) writeValue(out.string(key), value);
  let offset = 0;
  for (const { name, type, shape, data } of tensors) {
    out.string(name).uint32(shape.length);
    // ggml counts dimensions from the one that is contiguous in memory.
    for (const size of shape.toReversed()) out.uint64(size);
    out.uint32(tensorTypes[type]).uint64(offset);
    offset += padded(data.length);
  }
  out.pad();
  for (const { data } of tensors) out.bytes(data).pad();
  return out.finish();
}

function writeValue(out: ByteWriter, value: GgufValue): void {
  switch (value.type) {
    case 'uint32':
      out.uint32(valueTypes.uint32).uint32(value.value);
      return;
    case 'float32':
      out.uint32(valueTypes.float32).float32(value.value);
      return;
    case 'bool':
      out.uint32(valueTypes.bool).bytes(Uint8Array.of(value.value ? 1 : 0));
      return;
    case 'string':
      out.uint32(valueTypes.string).string(value.value);
      return;
    case 'strings':
      out.uint32(valueTypes.array).uint32(valueTypes.string).uint64(value.value.length);
      for (const item of value.value) out.string(item);
      return;
    case 'int32s':
      out.uint32(valueTypes.array).uint32(valueTypes.int32).uint64(value.value.length);
      for (const item of value.value) out.int32(item);
  }
}

const padded = (size: number) => Math.ceil(size / ALIGNMENT) * ALIGNMENT;

class ByteWriter {
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  bytes(chunk: Uint8Array): this {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    return this;
  }

  uint32(value: number): this {
    const chunk = Buffer.alloc(4);
    chunk.writeUInt32LE(value);
    return this.bytes(chunk);
  }

  int32(value: number): this {
    const chunk = Buffer.alloc(4);
    chunk.writeInt32LE(value);
    return this.bytes(chunk);
  }

  uint64(value: number): this {
    const chunk = Buffer.alloc(8);
    chunk.writeBigUInt64LE(BigInt(value));
    return this.bytes(chunk);
  }

  float32(value: number): this {
    const chunk = Buffer.alloc(4);
    chunk.writeFloatLE(value);
    return this.bytes(chunk);
  }

  string(value: string): this {
    const text = Buffer.from(value);
    return this.uint64(text.length).bytes(text);
  }

  pad(): this {
    return this.bytes(new Uint8Array(padded(this.#size) - this.#size));
  }

  finish(): Uint8Array {
    return Buffer.concat(this.#chunks, this.#size);
  }
}
