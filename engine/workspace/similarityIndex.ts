import { type Feature, featuresOf, likenessTo } from '../text/likeness.ts';
import { cutWindows } from '../text/lineWindows.ts';
import type { FileEntry } from './fileTable.ts';
import type { FileStamp } from './folderScan.ts';

/** Lines of a window: a function. */
export const WINDOW_LINES = 20;

/** What is mentioned is kept as hashes of as many values; a place mentions some tens, so collisions are rare. */
const HASHES = 1 << 16;
/** Ends a file's windows, where a window's number of hashes would stand. */
const END = 0xffff;
/** In place of windows that are not known. */
const UNKNOWN = 0xfffe;

interface IndexedFile extends FileStamp {
  readonly windows: Uint16Array; // per window: how many hashes, then the hashes
}

export interface SimilarWindow {
  readonly path: string;
  /** Which of the file's windows (`cutWindows`). */
  readonly window: number;
  readonly score: number;
}

/**
 * Finds the windows of all files that are most like a place (likeness.ts). Takes about a byte a token; a query reads
 * all of it, which takes about a millisecond a million tokens and needs nothing kept in order when files change.
 */
export class SimilarityIndex {
  readonly #files = new Map<string, IndexedFile>(); // by path
  /** Windows that have it. */
  readonly #windowsWith = new Uint32Array(HASHES); // [hash]
  /** Scratch of a query, zero in between. */
  readonly #weights = new Float32Array(HASHES); // [hash]
  #windowCount = 0;
  #meanRarity: number | undefined;

  get bytes(): number {
    let bytes = this.#windowsWith.byteLength + this.#weights.byteLength;
    for (const { windows } of this.#files.values()) bytes += windows.byteLength;
    return bytes;
  }

  has(path: string): boolean {
    return this.#files.has(path);
  }

  set(path: string, text: string, { size, mtimeMs }: FileStamp): void {
    const known = this.#files.get(path);
    if (known?.size === size && known.mtimeMs === mtimeMs) return;
    this.#put(path, { size, mtimeMs, windows: hashWindows(text) });
  }

  delete(path: string): void {
    const file = this.#files.get(path);
    if (file === undefined) return;
    this.#count(file.windows, -1);
    this.#files.delete(path);
  }

  /** How rare a feature is, 1 for the mean one. */
  rarity(feature: Feature): number {
    return this.#rarity(hashOf(feature)) / this.#mean();
  }

  /** How rare all is that a place mentions. */
  raritiesNear(near: string): ReadonlyMap<Feature, number> {
    const rarity = (feature: Feature) => this.rarity(feature);
    return new Map([...likenessTo(near, rarity).weights.keys()].map((feature) => [feature, rarity(feature)]));
  }

  /**
   * The windows most like what is being written, best first; of two that overlap, the better one.
   * @param paths only these files
   */
  find(near: string, limit: number, paths: Iterable<string> = this.#files.keys()): SimilarWindow[] {
    const { weights, total } = likenessTo(near, (feature) => this.rarity(feature));
    for (const [feature, weight] of weights) this.#weights[hashOf(feature)] += weight;
    const best = new BestWindows(limit);
    for (const path of paths) {
      const file = this.#files.get(path);
      if (file !== undefined) this.#scoreFile(path, file.windows, total, best);
    }
    for (const feature of weights.keys()) this.#weights[hashOf(feature)] = 0;
    return best.sorted();
  }

  /** The windows of these files, one file after the other, as `restore` takes them. */
  save(files: Iterable<FileEntry>): Uint16Array {
    const parts = [...files].map(({ path, tokenCount }) => {
      const windows = this.#files.get(path)?.windows;
      return windows ?? Uint16Array.from(tokenCount === 0 ? [] : [UNKNOWN]);
    });
    const saved = new Uint16Array(parts.reduce((sum, { length }) => sum + length + 1, 0));
    let at = 0;
    for (const windows of parts) {
      saved.set(windows, at);
      at += windows.length;
      saved[at++] = END;
    }
    return saved;
  }

  /** @returns the paths of the files whose windows `saved` does not have */
  restore(files: Iterable<FileEntry>, saved: Uint16Array): ReadonlySet<string> {
    const unknown = new Set<string>();
    let start = 0;
    for (const { path, size, mtimeMs } of files) {
      let end = start;
      while (end < saved.length && saved[end] < UNKNOWN) end += 1 + saved[end];
      if (saved[end] !== END) unknown.add(path);
      else if (end > start && !this.#files.has(path)) {
        this.#put(path, { size, mtimeMs, windows: saved.slice(start, end) });
      }
      start = end + (saved[end] === UNKNOWN ? 2 : 1);
    }
    return unknown;
  }

  #put(path: string, file: IndexedFile): void {
    this.delete(path);
    this.#files.set(path, file);
    this.#count(file.windows, 1);
  }

  #count(windows: Uint16Array, by: 1 | -1): void {
    for (let at = 0; at < windows.length; ) {
      const end = at + 1 + windows[at];
      for (at++; at < end; at++) this.#windowsWith[windows[at]] += by;
      this.#windowCount += by;
    }
    this.#meanRarity = undefined;
  }

  /** `scoreOf` with hashes. */
  #scoreFile(path: string, windows: Uint16Array, total: number, best: BestWindows): void {
    const weights = this.#weights;
    for (let at = 0, window = 0; at < windows.length; window++) {
      const end = at + 1 + windows[at];
      let common = 0;
      let others = 0;
      for (at++; at < end; at++) {
        const weight = weights[windows[at]];
        if (weight === 0) others++;
        else common += weight;
      }
      const score = common / (total + others);
      if (score > best.least) best.add({ path, window, score });
    }
  }

  /** Inverse document frequency. */
  #rarity(hash: number): number {
    return Math.log(1 + this.#windowCount / (this.#windowsWith[hash] || 0.5));
  }

  #mean(): number {
    if (this.#meanRarity !== undefined) return this.#meanRarity;
    let sum = 0;
    let mentions = 0;
    for (let hash = 0; hash < HASHES; hash++) {
      const count = this.#windowsWith[hash];
      if (count === 0) continue;
      mentions += count;
      sum += count * this.#rarity(hash);
    }
    this.#meanRarity = mentions === 0 ? 1 : sum / mentions;
    return this.#meanRarity;
  }
}

/** The best windows so far. Neighbours overlap: at most one of them stays. */
class BestWindows {
  readonly #limit: number;
  #windows: SimilarWindow[] = []; // best first
  /** What a window has to exceed. */
  least = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(added: SimilarWindow): void {
    const overlapping = this.#windows.filter((known) => overlap(known, added));
    if (overlapping.some(({ score }) => score >= added.score)) return;
    const others = this.#windows.filter((known) => !overlapping.includes(known));
    this.#windows = [...others, added].sort((a, b) => b.score - a.score).slice(0, this.#limit);
    if (this.#windows.length === this.#limit) this.least = this.#windows.at(-1)!.score;
  }

  sorted(): SimilarWindow[] {
    return this.#windows;
  }
}

const overlap = (a: SimilarWindow, b: SimilarWindow) =>
  a.path === b.path && Math.abs(a.window - b.window) <= 1;

function hashWindows(text: string): Uint16Array {
  const hashes: number[] = [];
  for (const window of cutWindows(text, WINDOW_LINES)) {
    const distinct = new Set<number>();
    for (const feature of featuresOf(window.text)) distinct.add(hashOf(feature));
    hashes.push(distinct.size, ...distinct);
  }
  return Uint16Array.from(hashes);
}

/** FNV-1a, folded to 16 bits. */
function hashOf(feature: Feature): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < feature.length; i++) hash = Math.imul(hash ^ feature.charCodeAt(i), 0x01000193);
  return ((hash >>> 16) ^ hash) & 0xffff;
}
