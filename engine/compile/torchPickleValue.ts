import { corrupt, unsupported } from './fileFault.ts';

/**
 * What a pickle describes. A pickle is a program that makes objects by calling functions; here nothing is called: a call is
 * kept as what it is, and whoever reads it knows the few that matter.
 */
export type PickleValue = null | boolean | number | string | PickleNode;
export type PickleNode =
  | { readonly kind: 'tuple'; readonly items: readonly PickleValue[] }
  | PickleDict
  | { readonly kind: 'global'; readonly name: string }
  | PickleCall
  /** An object that is kept outside the pickle, by what names it. */
  | { readonly kind: 'persistent'; readonly id: PickleValue };

interface PickleDict {
  readonly kind: 'dict';
  readonly items: [key: PickleValue, value: PickleValue][];
}

interface PickleCall {
  readonly kind: 'call';
  readonly function: string;
  readonly arguments: readonly PickleValue[];
  /** Set on what the call returned, as on a dict. */
  readonly items: [key: PickleValue, value: PickleValue][];
}

/**
 * Reads a pickle (protocol 2 to 5) of the opcodes that dicts of tensors are written with.
 *
 * @param knownGlobals the functions and classes it may name, as "module name"
 * @throws SlipstreamError model.corrupt, model.unsupported, naming the file
 */
export function readPickle(bytes: Uint8Array, file: string, knownGlobals: ReadonlySet<string>): PickleValue {
  return new PickleReader(bytes, file, knownGlobals).read();
}

/** Where a tuple or a dict's items began; never a value. */
const MARK = Symbol('mark');

class PickleReader {
  readonly #bytes: Buffer;
  readonly #file: string;
  readonly #knownGlobals: ReadonlySet<string>;
  readonly #stack: (PickleValue | typeof MARK)[] = [];
  readonly #memo = new Map<number, PickleValue>();
  #at = 0;

  constructor(bytes: Uint8Array, file: string, knownGlobals: ReadonlySet<string>) {
    this.#bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#file = file;
    this.#knownGlobals = knownGlobals;
  }

  read(): PickleValue {
    for (;;) {
      const opcode = String.fromCharCode(this.#unsigned(1));
      if (opcode === '.') return this.#result();
      const operation = this.#operations[opcode];
      if (!operation) {
        const code = `0x${opcode.charCodeAt(0).toString(16)}`;
        throw unsupported(this.#file, `holds more than a dict of tensors (pickle opcode ${code})`);
      }
      operation();
    }
  }

  #result(): PickleValue {
    const value = this.#pop();
    if (this.#stack.length > 0) throw this.#damaged();
    return value;
  }

  // The names and letters are those of Python's pickletools.
  readonly #operations: Readonly<Record<string, () => void>> = {
    '\x80': () => this.#protocol(),
    '\x95': () => this.#take(8), // FRAME: a hint for buffering
    '(': () => this.#stack.push(MARK),
    N: () => this.#stack.push(null),
    '\x88': () => this.#stack.push(true),
    '\x89': () => this.#stack.push(false),
    J: () => this.#stack.push(this.#take(4).readInt32LE()), // BININT
    K: () => this.#stack.push(this.#unsigned(1)), // BININT1
    M: () => this.#stack.push(this.#unsigned(2)), // BININT2
    '\x8a': () => this.#stack.push(this.#long(this.#unsigned(1))), // LONG1
    X: () => this.#stack.push(this.#text(this.#unsigned(4))), // BINUNICODE
    '\x8c': () => this.#stack.push(this.#text(this.#unsigned(1))), // SHORT_BINUNICODE
    ')': () => this.#pushTuple([]),
    '\x85': () => this.#pushTuple(this.#popMany(1)),
    '\x86': () => this.#pushTuple(this.#popMany(2)),
    '\x87': () => this.#pushTuple(this.#popMany(3)),
    t: () => this.#pushTuple(this.#popToMark()),
    '}': () => this.#stack.push({ kind: 'dict', items: [] }),
    s: () => this.#setItems(this.#popMany(2)),
    u: () => this.#setItems(this.#popToMark()),
    c: () => this.#global(this.#line(), this.#line()),
    '\x93': () => this.#global(...(this.#popMany(2) as [PickleValue, PickleValue])), // STACK_GLOBAL
    R: () => this.#reduce(),
    b: () => this.#pop(), // BUILD: attributes of an object. Of a state dict they are notes on its modules' versions.
    Q: () => this.#stack.push({ kind: 'persistent', id: this.#pop() }), // BINPERSID
    q: () => this.#memo.set(this.#unsigned(1), this.#top()), // BINPUT
    r: () => this.#memo.set(this.#unsigned(4), this.#top()), // LONG_BINPUT
    '\x94': () => this.#memo.set(this.#memo.size, this.#top()), // MEMOIZE
    h: () => this.#recall(this.#unsigned(1)), // BINGET
    j: () => this.#recall(this.#unsigned(4)), // LONG_BINGET
  };

  #protocol(): void {
    const version = this.#unsigned(1);
    if (version < 2 || version > 5) throw unsupported(this.#file, `is a pickle of protocol ${version}`);
  }

  #pushTuple(items: readonly PickleValue[]): void {
    this.#stack.push({ kind: 'tuple', items });
  }

  #setItems(flat: readonly PickleValue[]): void {
    const target = this.#top();
    if (!isNode(target) || !('items' in target) || target.kind === 'tuple' || flat.length % 2 !== 0) {
      throw this.#damaged();
    }
    for (let i = 0; i < flat.length; i += 2) target.items.push([flat[i], flat[i + 1]]);
  }

  #global(module: PickleValue, name: PickleValue): void {
    const full = `${module} ${name}`;
    if (typeof module !== 'string' || typeof name !== 'string') throw this.#damaged();
    if (!this.#knownGlobals.has(full)) {
      const dotted = full
        .replace(' ', '.')
        .replace(/[^\w.]/g, '?')
        .slice(0, 100);
      throw unsupported(
        this.#file,
        `needs ${dotted}, which is not run; save its tensors alone, best as safetensors`,
      );
    }
    this.#stack.push({ kind: 'global', name: full });
  }

  #reduce(): void {
    const [callee, args] = this.#popMany(2);
    if (!isNode(callee) || callee.kind !== 'global' || !isNode(args) || args.kind !== 'tuple') {
      throw this.#damaged();
    }
    this.#stack.push({ kind: 'call', function: callee.name, arguments: args.items, items: [] });
  }

  #recall(index: number): void {
    const value = this.#memo.get(index);
    if (value === undefined) throw this.#damaged();
    this.#stack.push(value);
  }

  #top(): PickleValue {
    const top = this.#stack.at(-1);
    if (top === undefined || top === MARK) throw this.#damaged();
    return top;
  }

  #pop(): PickleValue {
    const top = this.#top();
    this.#stack.pop();
    return top;
  }

  #popMany(count: number): PickleValue[] {
    const items = this.#stack.splice(-count);
    if (items.length < count || items.includes(MARK)) throw this.#damaged();
    return items as PickleValue[];
  }

  #popToMark(): PickleValue[] {
    const mark = this.#stack.lastIndexOf(MARK);
    if (mark < 0) throw this.#damaged();
    return this.#stack.splice(mark).slice(1) as PickleValue[];
  }

  #take(length: number): Buffer {
    if (length > this.#bytes.length - this.#at) throw this.#damaged();
    this.#at += length;
    return this.#bytes.subarray(this.#at - length, this.#at);
  }

  #unsigned(length: number): number {
    return this.#take(length).readUIntLE(0, length);
  }

  /** Little-endian two's complement. */
  #long(length: number): number {
    if (length > 8) throw this.#damaged();
    const padded = Buffer.alloc(8, (this.#bytes[this.#at + length - 1] ?? 0) & 0x80 ? 0xff : 0);
    this.#take(length).copy(padded);
    const value = length === 0 ? 0n : padded.readBigInt64LE();
    if (value !== BigInt(Number(value)) || !Number.isSafeInteger(Number(value))) throw this.#damaged();
    return Number(value);
  }

  #text(length: number): string {
    return this.#take(length).toString('utf8');
  }

  #line(): string {
    const end = this.#bytes.indexOf(0x0a, this.#at);
    if (end < 0) throw this.#damaged();
    const line = this.#text(end - this.#at);
    this.#at = end + 1;
    return line;
  }

  #damaged() {
    return corrupt(this.#file, 'has a damaged list of tensors');
  }
}

export function isNode(value: PickleValue | undefined): value is PickleNode {
  return typeof value === 'object' && value !== null;
}
