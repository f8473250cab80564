import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type GgufValue, writeGguf } from '../../../../engine/bench/gguf/ggufFile.ts';

const metadata = new Map<string, GgufValue>([
  ['general.architecture', { type: 'string', value: 'qwen2' }],
  ['count', { type: 'uint32', value: 7 }],
  ['names', { type: 'strings', value: ['é', ''] }],
]);
const tensors = [
  { name: 'first', type: 'F32' as const, shape: [3], data: new Uint8Array(12).fill(1) },
  { name: 'second', type: 'F16' as const, shape: [2, 5], data: new Uint8Array(20).fill(2) },
];

test('the layout is the one of the GGUF specification', () => {
  const file = Buffer.from(writeGguf({ metadata, tensors }));
  const reader = new Reader(file);
  assert.equal(reader.bytes(4).toString(), 'GGUF');
  assert.deepEqual([reader.uint32(), reader.uint64(), reader.uint64()], [3, 2, 3]);
  assert.deepEqual([reader.string(), reader.uint32(), reader.string()], ['general.architecture', 8, 'qwen2']);
  assert.deepEqual([reader.string(), reader.uint32(), reader.uint32()], ['count', 4, 7]);
  assert.deepEqual([reader.string(), reader.uint32(), reader.uint32(), reader.uint64()], ['names', 9, 8, 2]);
  assert.deepEqual([reader.string(), reader.string()], ['é', '']);
  assert.deepEqual([reader.string(), reader.uint32(), reader.uint64()], ['first', 1, 3]);
  assert.deepEqual([reader.uint32(), reader.uint64()], [0, 0]);
  // Dimensions are counted from the contiguous one; data begins on multiples of 32.
  assert.deepEqual([reader.string(), reader.uint32(), reader.uint64(), reader.uint64()], ['second', 2, 5, 2]);
  assert.deepEqual([reader.uint32(), reader.uint64()], [1, 32]);
  const data = Math.ceil(reader.offset / 32) * 32;
  assert.deepEqual([...file.subarray(data, data + 12)], Array(12).fill(1));
  assert.deepEqual([...file.subarray(data + 32, data + 52)], Array(20).fill(2));
  assert.equal(file.length, data + 64);
});

class Reader {
  readonly #file: Buffer;
  offset = 0;

  constructor(file: Buffer) {
    this.#file = file;
  }

  bytes(count: number): Buffer {
    this.offset += count;
    return this.#file.subarray(this.offset - count, this.offset);
  }

  uint32(): number {
    return this.bytes(4).readUInt32LE();
  }

  uint64(): number {
    return Number(this.bytes(8).readBigUInt64LE());
  }

  string(): string {
    return this.bytes(this.uint64()).toString();
  }
}
