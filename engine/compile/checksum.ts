import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';

const BLOCKS = 64;
const BLOCK_BYTES = 512 * 1024;

/**
 * CRC-32 of a file, of which at most 32 MiB are read: 64 blocks from the first to the last byte, equally far from each
 * other, in larger files. That finds what was zeroed, or cut off and grown again, in a start of any model (7 ms
 * for the embedded one, measured by hand). Damage between the blocks of a larger file is not found.
 */
export async function checksumOf(file: string): Promise<number> {
  const handle = await open(file, 'r');
  try {
    const { size } = await handle.stat();
    const block = Buffer.allocUnsafe(BLOCK_BYTES);
    let checksum = 0;
    for (const offset of blockOffsets(size))
      checksum = crc32(await readBlock(handle, block, offset), checksum);
    return checksum;
  } finally {
    await handle.close();
  }
}

function blockOffsets(size: number): number[] {
  const count = Math.min(BLOCKS, Math.ceil(size / BLOCK_BYTES));
  const step = Math.max(BLOCK_BYTES, (size - BLOCK_BYTES) / (BLOCKS - 1));
  return Array.from({ length: count }, (_, i) => Math.floor(i * step));
}

async function readBlock(handle: FileHandle, block: Buffer, offset: number): Promise<Buffer> {
  const { bytesRead } = await handle.read(block, 0, block.length, offset);
  return block.subarray(0, bytesRead);
}
