import type { StoredType } from './storedTensor.ts';

/** Stored bytes (little-endian) as float32, exactly. */
export function toFloat32(bytes: Uint8Array, type: StoredType): Float32Array {
  const aligned = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  const { buffer, byteOffset, byteLength } = aligned;
  switch (type) {
    case 'F32':
      return new Float32Array(buffer, byteOffset, byteLength / 4);
    case 'BF16':
      return bfloat16ToFloat32(new Uint16Array(buffer, byteOffset, byteLength / 2));
    case 'F16':
      return float16ToFloat32(new Uint16Array(buffer, byteOffset, byteLength / 2));
    default:
      throw new TypeError(`${type} is not a float type`);
  }
}

function bfloat16ToFloat32(source: Uint16Array): Float32Array {
  const bits = new Uint32Array(source.length);
  for (let i = 0; i < source.length; i++) bits[i] = source[i] << 16;
  return new Float32Array(bits.buffer);
}

function float16ToFloat32(source: Uint16Array): Float32Array {
  const out = new Float32Array(source.length);
  for (let i = 0; i < source.length; i++) {
    const exponent = (source[i] >> 10) & 31;
    const fraction = source[i] & 1023;
    const sign = source[i] & 0x8000 ? -1 : 1;
    if (exponent === 0) out[i] = sign * fraction * 2 ** -24;
    else if (exponent === 31) out[i] = fraction ? Number.NaN : sign * Number.POSITIVE_INFINITY;
    else out[i] = sign * (1 + fraction / 1024) * 2 ** (exponent - 15);
  }
  return out;
}

const roundingFloat = new Float32Array(1);
const roundingBits = new Uint32Array(roundingFloat.buffer);

/** Nearest float16 (ties to even); magnitudes beyond 65504 become the largest finite value. */
export function toFloat16(source: Float32Array): Uint16Array {
  const out = new Uint16Array(source.length);
  for (let i = 0; i < source.length; i++) out[i] = float16Bits(source[i]);
  return out;
}

function float16Bits(value: number): number {
  const magnitude = Math.min(Math.abs(value), 65504);
  const sign = value < 0 || Object.is(value, -0) ? 0x8000 : 0;
  if (magnitude < 2 ** -14) return sign | roundHalfEven(magnitude * 2 ** 24);
  roundingFloat[0] = magnitude;
  const bits = roundingBits[0];
  const exponent = (bits >>> 23) - 127 + 15;
  // A fraction that rounds up to 1024 carries into the exponent, which is what addition does.
  return Math.min(sign | 0x7bff, sign | ((exponent << 10) + roundHalfEven((bits & 0x7fffff) / 8192)));
}

function roundHalfEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 === 1) ? floor + 1 : floor;
}
