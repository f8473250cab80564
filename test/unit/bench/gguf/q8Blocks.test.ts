import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { toQ8Blocks } from '../../../../engine/bench/gguf/q8Blocks.ts';
import { toFloat32 } from '../../../../engine/compile/floats.ts';

test('a block is a float16 scale and 32 signed bytes', () => {
  const values = Float32Array.from({ length: 32 }, (_, i) =>
    i === 3 ? -254 : i === 4 ? 127 : i === 5 ? 3 : 0,
  );
  const bytes = toQ8Blocks(values);
  assert.equal(bytes.length, 34);
  assert.deepEqual([...bytes.subarray(0, 2)], [0x00, 0x40]); // 2.0
  assert.deepEqual([...new Int8Array(bytes.buffer, bytes.byteOffset + 5, 3)], [-127, 64, 2]);
});

test('zeros stay zeros', () => {
  assert.ok(toQ8Blocks(new Float32Array(64)).every((byte) => byte === 0));
});

test('every value comes back within half a step of its block', () => {
  const value = fc.float({ min: -100, max: 100, noNaN: true });
  fc.assert(
    fc.property(fc.array(value, { minLength: 64, maxLength: 64 }), (array) => {
      const values = Float32Array.from(array);
      const back = fromQ8Blocks(toQ8Blocks(values));
      for (let block = 0; block < 2; block++) {
        const own = values.subarray(32 * block, 32 * block + 32);
        const largest = Math.max(...own.map(Math.abs));
        // The scale is rounded to float16 after it was used: 11 bits, or steps of 2 ** -24 when it is tiny.
        const tolerance = largest / 254 + largest / 2048 + 127 * 2 ** -25 + 1e-6;
        own.forEach((one, i) => {
          assert.ok(Math.abs(one - back[32 * block + i]) <= tolerance, `${one} ${back[32 * block + i]}`);
        });
      }
    }),
  );
});

function fromQ8Blocks(blocks: Uint8Array): Float32Array {
  const bytes = Uint8Array.from(blocks);
  const values: number[] = [];
  for (let at = 0; at < bytes.length; at += 34) {
    const [scale] = toFloat32(bytes.slice(at, at + 2), 'F16');
    for (const quantized of new Int8Array(bytes.slice(at + 2, at + 34).buffer))
      values.push(scale * quantized);
  }
  return Float32Array.from(values);
}
