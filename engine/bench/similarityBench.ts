/**
 * How well and how fast the workspace's similar windows are found: takes places where something is mentioned that
 * another file alone defines, and looks for the window with the definition. Prints sizes and times too.
 * Run: node --import tsx engine/bench/similarityBench.ts DIR [copies]
 */
import { extname, join, resolve } from 'node:path';
import { embeddedModelDir } from '../embeddedModel.ts';
import { loadTokenizer } from '../model/tokenizer.ts';
import { featuresOf } from '../text/likeness.ts';
import { cutWindows } from '../text/lineWindows.ts';
import { scan } from '../workspace/folderScan.ts';
import { IgnoreRules } from '../workspace/ignoreRules.ts';
import { SimilarityIndex, WINDOW_LINES } from '../workspace/similarityIndex.ts';
import { readTextFile } from '../workspace/textFile.ts';

const PLACES = 300;
/** Each query is timed once a pass and its least time counts: what else the machine does is not the index's. */
const PASSES = 3;
const CODE = new Set(['.ts', '.mts', '.js', '.mjs', '.cjs', '.py']);
const DEFINITION = 'def ';
const stamp = { size: 0, mtimeMs: 0 };

interface Place {
  readonly path: string;
  readonly near: string;
  readonly name: string;
}

const folder = resolve(process.argv[2] ?? '.');
/** How often all files are put in, to have a large workspace. */
const copies = Number(process.argv[3] ?? 1);
const texts = await readAll();
const index = await build();
const places = choosePlaces();
if (places.length === 0) throw new Error(`${folder} has no file that mentions what another one defines`);
measureFound();
measureQueries();

async function readAll(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  for await (const { path } of scan(folder, folder, new IgnoreRules(folder, []))) {
    if (!CODE.has(extname(path)) || /\.d\.m?ts$/.test(path)) continue;
    const file = await readTextFile(path);
    if ('text' in file) found.set(path, file.text);
  }
  return found;
}

async function build(): Promise<SimilarityIndex> {
  const tokenizer = await loadTokenizer(embeddedModelDir);
  let tokens = 0;
  for (const text of texts.values()) tokens += tokenizer.encode(text).length;
  const built = new SimilarityIndex();
  const fixed = built.bytes;
  const startMs = performance.now();
  for (let copy = 0; copy < copies; copy++) {
    for (const [path, text] of texts) built.set(copy === 0 ? path : join(path, `${copy}`), text, stamp);
  }
  const seconds = (performance.now() - startMs) / 1000;
  const million = (tokens * copies) / 1e6;
  console.log(`files              ${texts.size * copies}, ${million.toFixed(2)} M tokens`);
  console.log(
    `bytes a token      ${((built.bytes - fixed) / million / 1e6).toFixed(2)} (at most 2), and ${(fixed / 1e6).toFixed(1)} MB`,
  );
  console.log(`build              ${(million / seconds).toFixed(1)} M tokens/s`);
  return built;
}

function choosePlaces(): Place[] {
  const definers = new Map<string, string[]>();
  for (const [path, text] of texts) {
    for (const feature of featuresOf(text)) {
      if (!feature.startsWith(DEFINITION)) continue;
      const name = feature.slice(DEFINITION.length);
      definers.set(name, [...(definers.get(name) ?? []), path]);
    }
  }
  const all = [...texts].flatMap(([path, text]) => placesIn(path, text, definers));
  const step = Math.max(1, Math.floor(all.length / PLACES));
  return all.filter((_, i) => i % step === 0).slice(0, PLACES);
}

function placesIn(path: string, text: string, definers: ReadonlyMap<string, readonly string[]>): Place[] {
  const lines = text.split('\n');
  return lines.flatMap((line, i) => {
    if (/^\s*(?:import|export\b.*\bfrom)\b|\brequire\(/.test(line)) return [];
    const names = (line.match(/[A-Za-z_$]\w{2,}/g) ?? []).filter((name) => {
      const paths = definers.get(name);
      return paths?.length === 1 && paths[0] !== path;
    });
    return [...new Set(names)].map((name) => {
      const before = line.slice(0, line.indexOf(name) + name.length);
      return { path, name, near: [...lines.slice(Math.max(0, i - WINDOW_LINES), i), before].join('\n') };
    });
  });
}

function measureFound(): void {
  const ranks = places.map(({ path, near, name }) => {
    const others = [...texts.keys()].filter((other) => other !== path);
    return index.find(near, 12, others).findIndex((found) => {
      const { text } = cutWindows(texts.get(found.path)!, WINDOW_LINES)[found.window];
      return featuresOf(text).has(DEFINITION + name);
    });
  });
  const within = (rank: number) => ranks.filter((at) => at !== -1 && at < rank).length;
  const percent = (count: number) => `${((100 * count) / places.length).toFixed(0)} %`;
  console.log(
    `definition found   first ${percent(within(1))}, of 4 ${percent(within(4))}, of 12 ${percent(within(12))}`,
  );
}

function measureQueries(): void {
  const timesMs = places.map(() => Number.POSITIVE_INFINITY);
  for (let pass = 0; pass < PASSES; pass++) {
    for (const [i, { near }] of places.entries()) {
      const startMs = performance.now();
      index.find(near, 12);
      timesMs[i] = Math.min(timesMs[i], performance.now() - startMs);
    }
  }
  timesMs.sort((a, b) => a - b);
  const at = (share: number) => timesMs[Math.floor(share * (timesMs.length - 1))].toFixed(2);
  console.log(`query              p50 ${at(0.5)} ms, p99 ${at(0.99)} ms`);
}
