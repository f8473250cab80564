/**
 * Protocol Buffers wire format, writing only: what an ONNX file needs and no more
 * (https://protobuf.dev/programming-guides/encoding).
 */
export class ProtobufWriter {
  #chunks: Uint8Array[] = [];
  #size = 0;

  int(field: number, value: number | bigint): this {
    return this.#varint((field << 3) | 0).#varint(value);
  }

  float(field: number, value: number): this {
    this.#varint((field << 3) | 5);
    return this.#push(new Uint8Array(new Float32Array([value]).buffer));
  }

  bytes(field: number, value: Uint8Array): this {
    return this.#varint((field << 3) | 2)
      .#varint(value.length)
      .#push(value);
  }

  string(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  message(field: number, write: (writer: ProtobufWriter) => void): this {
    const inner = new ProtobufWriter();
    write(inner);
    return this.bytes(field, inner.finish());
  }

  finish(): Uint8Array {
    const out = new Uint8Array(this.#size);
    let offset = 0;
    for (const chunk of this.#chunks) {
      out.set(chunk, offset);
      offset += chunk.length;
    }
    return out;
  }

  #varint(value: number | bigint): this {
    let rest = BigInt.asUintN(64, BigInt(value));
    const out: number[] = [];
    while (rest > 127n) {
      out.push(Number(rest & 127n) | 128);
      rest >>= 7n;
    }
    out.push(Number(rest));
    return this.#push(Uint8Array.from(out));
  }

  #push(chunk: Uint8Array): this {
    this.#chunks.push(chunk);
    this.#size += chunk.length;
    return this;
  }
}
