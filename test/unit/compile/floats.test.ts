import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { toFloat16, toFloat32 } from '../../../engine/compile/floats.ts';

const patterns = Uint16Array.from({ length: 65536 }, (_, bits) => bits);
const bytes = new Uint8Array(patterns.buffer);

/** By the definition: sign, 5 bits of exponent, 10 of fraction. */
function float16(bits: number): number {
  const sign = bits >> 15 ? -1 : 1;
  const exponent = (bits >> 10) % 32;
  const fraction = bits % 1024;
  if (exponent === 31) return fraction === 0 ? sign * Number.POSITIVE_INFINITY : Number.NaN;
  if (exponent === 0) return sign * (fraction / 1024) * 2 ** -14;
  return sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
}

test('every float16 becomes the float32 of the same value', () => {
  const values = toFloat32(bytes, 'F16');
  for (const bits of patterns) assert.ok(Object.is(values[bits], float16(bits)), `${bits}`);
});

test('every bfloat16 becomes the float32 with the same upper half', () => {
  const values = toFloat32(bytes, 'BF16');
  const view = new DataView(new ArrayBuffer(4));
  for (const bits of patterns) {
    view.setUint32(0, bits * 65536);
    assert.ok(Object.is(values[bits], view.getFloat32(0)), `${bits}`);
  }
});

test('float16 to float32 and back is the same, for every finite number', () => {
  const finite = patterns.filter((bits) => Number.isFinite(float16(bits)));
  assert.deepEqual(toFloat16(Float32Array.from(finite, float16)), finite);
});

test('float32 becomes the nearest float16, even ones on a tie, the largest beyond', () => {
  const nonNegative = Array.from(patterns.subarray(0, 0x7c00), float16);
  const nearest = (value: number) => {
    let low = 0;
    let high = nonNegative.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (nonNegative[middle] <= value) low = middle;
      else high = middle;
    }
    const [below, above] = [value - nonNegative[low], nonNegative[high] - value];
    if (below === above) return low % 2 === 0 ? low : high;
    return below < above ? low : high;
  };
  const float32 = fc.oneof(
    fc.float({ noNaN: true }),
    fc.float({ min: Math.fround(-70000), max: 70000, noNaN: true }),
    fc.float({ min: Math.fround(-1e-4), max: Math.fround(1e-4), noNaN: true }),
    fc.nat(0x7bfe).map((bits) => (float16(bits) + float16(bits + 1)) / 2),
  );
  fc.assert(
    fc.property(float32, (value) => {
      const [bits] = toFloat16(Float32Array.of(value));
      assert.equal(bits & 0x7fff, nearest(Math.abs(value)));
      assert.equal(bits >> 15, Object.is(Math.sign(value), -1) || Object.is(value, -0) ? 1 : 0);
    }),
    { numRuns: 5000 },
  );
});

test('bytes at an odd place are read too', () => {
  const shifted = new Uint8Array(9);
  shifted.set(new Uint8Array(Float32Array.of(1.5, -2).buffer), 1);
  assert.deepEqual([...toFloat32(shifted.subarray(1), 'F32')], [1.5, -2]);
  assert.deepEqual([...toFloat32(shifted.subarray(1, 5), 'BF16')], [0, 1.5]);
});
