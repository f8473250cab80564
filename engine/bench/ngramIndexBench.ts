/**
 * The workspace index on a synthetic workspace of 10 million tokens: prints the five numbers it has to reach.
 * Run: node --import tsx engine/bench/ngramIndexBench.ts [tokens]
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { percentiles } from '../benchmark/statistics.ts';
import { MAX_MATCH } from '../workspace/chainedTokens.ts';
import { fileEntries, fileTable } from '../workspace/fileTable.ts';
import { NgramIndex } from '../workspace/ngramIndex.ts';
import { readSnapshot, type SnapshotKey, writeSnapshot } from '../workspace/persistedIndex.ts';
import { syntheticWorkspace } from './syntheticWorkspace.ts';

const VOCAB_SIZE = 8192;
const LOOKUPS = 20_000;
const EDITS = 400;
/** Each work is timed once a pass and its least time counts: what else the machine does is not the index's. */
const PASSES = 3;

const tokenCount = Number(process.argv[2] ?? 10_000_000);
const documents = syntheticWorkspace(tokenCount, VOCAB_SIZE);
const index = build();
console.log(`bytes a token      ${(index.bytes / index.tokenCount).toFixed(1)} (at most 16)`);
measureLookups();
measureEdits();
await measureLoad();

function build(): NgramIndex {
  const built = new NgramIndex({ vocabSize: VOCAB_SIZE });
  const startMs = performance.now();
  for (const [i, tokens] of documents.entries()) built.set(`file${i}`, tokens);
  const ms = performance.now() - startMs;
  console.log(`build              ${(built.tokenCount / ms / 1000).toFixed(1)} M tokens/s (at least 1)`);
  return built;
}

function measureLookups(): void {
  const timesMs = leastTimes(LOOKUPS, (i) => {
    const tokens = documents[Math.floor((i * documents.length) / LOOKUPS)];
    const end = MAX_MATCH + ((i * 7919) % (tokens.length - MAX_MATCH));
    const query = Uint16Array.from(tokens.subarray(end - MAX_MATCH, end));
    // Every other query ends in a way the workspace may not hold, so that short matches are looked for too.
    if (i % 2 === 1) query[query.length - 5] = (query[query.length - 5] + 1) % VOCAB_SIZE;
    return () => index.lookup(query);
  });
  console.log(`lookup             ${spread(timesMs, 1000, 'us')} (p99 at most 100 us)`);
}

function measureEdits(): void {
  const timesMs = leastTimes(EDITS, (i) => {
    const file = (i * 31) % documents.length;
    return () => {
      index.set(`file${file}`, documents[file]);
      index.compact(8192);
    };
  });
  console.log(`edit, a file       ${spread(timesMs, 1, 'ms')} (at most 5 ms)`);
}

async function measureLoad(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'slipstream-bench-'));
  const file = join(folder, 'index');
  const key = { folder, tokenizer: 'bench' };
  try {
    await writeSnapshot(file, key, snapshot());
    let leastMs = Number.POSITIVE_INFINITY;
    for (let pass = 0; pass < PASSES; pass++) leastMs = Math.min(leastMs, await loadMs(file, key));
    console.log(`load, persisted    ${(leastMs / 1000).toFixed(2)} s (at most 1 s)`);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function loadMs(file: string, key: SnapshotKey): Promise<number> {
  const startMs = performance.now();
  const { files, tokens } = (await readSnapshot(file, key))!;
  const loaded = new NgramIndex({ vocabSize: VOCAB_SIZE });
  let at = 0;
  for (const { path, tokenCount } of fileEntries(files)) {
    loaded.set(path, tokens.subarray(at, at + tokenCount));
    at += tokenCount;
  }
  return performance.now() - startMs;
}

function snapshot() {
  const tokens = new Uint16Array(documents.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const document of documents) {
    tokens.set(document, at);
    at += document.length;
  }
  const entry = (document: Uint16Array, i: number) => ({
    path: `file${i}`,
    size: document.length,
    mtimeMs: i,
    tokenCount: document.length,
  });
  return { files: fileTable(documents.map(entry)), tokens, windows: new Uint16Array(0) };
}

/** Whole passes, one after the other, so that no work finds its data in the processor's caches. */
function leastTimes(count: number, work: (i: number) => () => void): Float64Array {
  const timesMs = new Float64Array(count).fill(Number.POSITIVE_INFINITY);
  for (let pass = 0; pass < PASSES; pass++) {
    for (let i = 0; i < count; i++) {
      const run = work(i);
      const startMs = performance.now();
      run();
      timesMs[i] = Math.min(timesMs[i], performance.now() - startMs);
    }
  }
  return timesMs;
}

function spread(timesMs: Float64Array, scale: number, unit: string): string {
  const { p50, p99, max } = percentiles([...timesMs]);
  const scaled = (ms: number) => `${(ms * scale).toFixed(2)} ${unit}`;
  return `p50 ${scaled(p50)}, p99 ${scaled(p99)}, max ${scaled(max)}`;
}
