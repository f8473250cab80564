import { toFloat16 } from '../../compile/floats.ts';

const BLOCK = 32;
const BLOCK_BYTES = 2 + BLOCK;

/**
 * ggml's Q8_0: blocks of 32 values, each a float16 scale (largest magnitude / 127) and 32 signed bytes
 * (ggml, quantize_row_q8_0_ref).
 *
 * @param values a multiple of 32 of them a row, so that no block spans rows
 */
export function toQ8Blocks(values: Float32Array): Uint8Array {
  const blocks = values.length / BLOCK;
  const out = Buffer.alloc(blocks * BLOCK_BYTES);
  for (let block = 0; block < blocks; block++) {
    const source = values.subarray(block * BLOCK, (block + 1) * BLOCK);
    const at = block * BLOCK_BYTES;
    const scale = source.reduce((largest, value) => Math.max(largest, Math.abs(value)), 0) / 127;
    out.writeUInt16LE(toFloat16(Float32Array.of(scale))[0], at);
    // Like the reference: the bytes come from the scale before it is rounded to float16.
    for (let i = 0; i < BLOCK; i++)
      out.writeInt8(scale === 0 ? 0 : roundHalfAway(source[i] / scale), at + 2 + i);
  }
  return out;
}

/** C's roundf. */
function roundHalfAway(value: number): number {
  return Math.sign(value) * Math.floor(Math.abs(value) + 0.5);
}
