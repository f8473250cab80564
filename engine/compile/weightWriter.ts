import type { FileHandle } from 'node:fs/promises';

/** A range of the file of external data. */
export interface WeightRange {
  readonly file: string;
  readonly offset: number;
  readonly length: number;
}

// Cache lines, and more than any kernel's vector alignment.
const ALIGNMENT = 64;

/** Appends weights to the file that a graph names as its external data. */
export class WeightWriter {
  readonly #handle: FileHandle;
  readonly #file: string;
  #offset = 0;

  constructor(handle: FileHandle, file: string) {
    this.#handle = handle;
    this.#file = file;
  }

  async append(data: ArrayBufferView): Promise<WeightRange> {
    await this.#write(new Uint8Array((ALIGNMENT - (this.#offset % ALIGNMENT)) % ALIGNMENT));
    const range = { file: this.#file, offset: this.#offset, length: data.byteLength };
    await this.#write(new Uint8Array(data.buffer, data.byteOffset, data.byteLength));
    return range;
  }

  async #write(bytes: Uint8Array): Promise<void> {
    for (let done = 0; done < bytes.length; ) {
      done += (await this.#handle.write(bytes, done, Math.min(bytes.length - done, 2 ** 30))).bytesWritten;
    }
    this.#offset += bytes.length;
  }
}
