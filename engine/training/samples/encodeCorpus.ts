/**
 * Turns a corpus into a file of training windows: uint16 tokens (uint32 in an OUTPUT.u32, for vocabularies of more than
 * 65,536), windows of LENGTH + 1 tokens back to back, shuffled. Each file of the corpus is visited in proportion to its
 * size.
 * Run: node --max-old-space-size=8000 --import tsx engine/training/samples/encodeCorpus.ts \
 *        train|heldOut TOKENIZER.json LENGTH PASSES SEED OUTPUT.bin
 * PASSES: how often the corpus is covered, 0.25 for a quarter of it.
 */
import { dirname } from 'node:path';
import { loadTokenizer } from '../../model/tokenizer.ts';
import type { CorpusDocument } from '../corpus/document.ts';
import { readDocuments } from '../corpus/readDocuments.ts';
import { Random } from '../random.ts';
import { BpeEncoder } from '../tokenizer/bpeEncoder.ts';
import { writeWholeFile } from '../wholeFile.ts';
import { EditorSamples } from './editorSample.ts';
import { PackageContext } from './packageContext.ts';
import { type Package, SampleBuilder } from './sampleBuilder.ts';
import { WindowPacker } from './windowPacker.ts';

const CHARACTERS_A_TOKEN = 3.6;
const SMALLEST_SAMPLE = 96;

const [set, tokenizerPath, length, passes, seed, output] = process.argv.slice(2);
if ((set !== 'train' && set !== 'heldOut') || !tokenizerPath || !output) {
  throw new Error('usage: encodeCorpus.ts train|heldOut TOKENIZER.json LENGTH PASSES SEED OUTPUT.bin');
}
const windowSize = Number(length) + 1;
/** The mean of the log-uniform lengths of SampleBuilder. The editor's prompts are longer, with text of other files in them. */
const meanSample = (windowSize - SMALLEST_SAMPLE) / Math.log(windowSize / SMALLEST_SAMPLE);
const charactersASample = meanSample * CHARACTERS_A_TOKEN;
const random = new Random(Number(seed));
const encoder = BpeEncoder.fromFile(tokenizerPath);
const builder = new SampleBuilder(
  encoder,
  new EditorSamples(await loadTokenizer(dirname(tokenizerPath)), windowSize),
  random,
);
const packer = new WindowPacker(windowSize);
const windows: (Uint16Array | Uint32Array)[] = [];

function encodeIds(ids: number[]): Uint16Array | Uint32Array {
  if (output!.endsWith('.u32')) return Uint32Array.from(ids);
  if (ids.some((id) => id > 0xffff))
    throw new Error(`${output}: name it .u32, some tokens need more than 16 bits`);
  return Uint16Array.from(ids);
}

/** A rest that no sample fits is filled with plain text of the document at hand. */
function complete(window: number[], document: CorpusDocument): void {
  while (window.length < windowSize) window.push(...builder.filler(document, windowSize - window.length));
  windows.push(encodeIds(window));
}

function encodeDocument(owner: Package, document: CorpusDocument): void {
  const wanted = (document.text.length / charactersASample) * Number(passes);
  const samples = Math.floor(wanted) + (random.chance(wanted % 1) ? 1 : 0);
  for (let i = 0; i < samples; i++) {
    const sample = builder.build(owner, document, windowSize);
    if (sample) for (const window of packer.add(sample)) complete(window, document);
  }
}

async function readPackages(): Promise<[id: string, documents: CorpusDocument[]][]> {
  const documents = new Map<string, CorpusDocument[]>();
  for await (const document of readDocuments(set as 'train' | 'heldOut')) {
    const siblings = documents.get(document.package);
    if (siblings) siblings.push(document);
    else documents.set(document.package, [document]);
  }
  return [...documents];
}

const packages = await readPackages();
random.shuffle(packages);
for (const [id, documents] of packages) {
  const owner = { id, documents, context: new PackageContext(documents) };
  for (const document of documents) encodeDocument(owner, document);
}
random.shuffle(windows);
writeWholeFile(output, windows);
const millions = ((windows.length * windowSize) / 1e6).toFixed(1);
console.log(`${output}: ${windows.length} windows of ${windowSize} tokens, ${millions}M tokens`);
