import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tokenizer } from '@huggingface/tokenizers';
import fc from 'fast-check';
import type { CorpusDocument } from '../../../engine/training/corpus/document.ts';
import { Random } from '../../../engine/training/random.ts';
import { EditorSamples } from '../../../engine/training/samples/editorSample.ts';
import { PackageContext } from '../../../engine/training/samples/packageContext.ts';
import { SampleBuilder } from '../../../engine/training/samples/sampleBuilder.ts';
import { pickSpan } from '../../../engine/training/samples/span.ts';
import { WindowPacker } from '../../../engine/training/samples/windowPacker.ts';
import { BpeEncoder } from '../../../engine/training/tokenizer/bpeEncoder.ts';
import { trainBpe } from '../../../engine/training/tokenizer/bpeTrainer.ts';
import { preTokenize } from '../../../engine/training/tokenizer/preTokenizer.ts';
import { tokenizerFile } from '../../../engine/training/tokenizer/tokenizerFile.ts';
import { tinyCoder } from '../text/tinyCoder.ts';

const CODE = `import { sum } from './sum';

/** Größe: "😀" */
export function total(items: number[]): number {
  if (items.length === 0) {
    return 0;
  }
  return sum(items.map((item) => item * 2), { start: 10 });
}
`.repeat(8);

function trainedFile() {
  const counts = new Map<string, number>();
  for (const piece of preTokenize(CODE)) counts.set(piece, (counts.get(piece) ?? 0) + 1);
  return JSON.parse(JSON.stringify(tokenizerFile(trainBpe(counts, 400))));
}

const FILE = trainedFile();
const encoder = new BpeEncoder(FILE);
const library = new Tokenizer(FILE, { clean_up_tokenization_spaces: false });

test('the trained tokenizer is read by the library that the engine uses, with the same ids', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string({ unit: 'grapheme' }), fc.constant(CODE)), (text) => {
      fc.pre(!text.includes('<|'));
      const { ids } = library.encode(text, { add_special_tokens: false });
      assert.deepEqual(encoder.encode(text), [...ids]);
    }),
    { numRuns: 200 },
  );
});

test('frequent words are single tokens and digits stay apart', () => {
  assert.equal(encoder.encode(' return').length, 1);
  assert.equal(encoder.encode('1234').length, 4);
});

test('a span lies in the text, splits no character, and the same seed gives the same spans', () => {
  const spans = (seed: number) => {
    const random = new Random(seed);
    return Array.from({ length: 500 }, () => pickSpan(CODE, random)).filter((span) => span !== undefined);
  };
  const found = spans(3);
  assert.ok(found.length > 200);
  for (const { start, end } of found) {
    assert.ok(0 <= start && start <= end && end <= CODE.length);
    const middle = CODE.slice(start, end);
    assert.equal(Buffer.from(middle).toString(), middle);
  }
  assert.deepEqual(spans(3), found);
  const atLineEnd = found.filter(({ end }) => CODE[end] === '\n').length;
  assert.ok(atLineEnd > found.length / 2, `only ${atLineEnd} of ${found.length} end with a line`);
});

test('odd texts give no span or a valid one, never a fault', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1 }), fc.nat(), (text, seed) => {
      const span = pickSpan(text, new Random(seed));
      assert.ok(span === undefined || (span.start <= span.end && span.end <= text.length));
    }),
  );
});

const document: CorpusDocument = {
  package: 'npm:p@1',
  path: 'src/total.ts',
  language: 'typescript',
  text: CODE,
};
const sibling: CorpusDocument = { ...document, path: 'src/sum.ts' };

test('samples keep their budget, end with the end token, and mark one middle at most, suffix first mostly', () => {
  const encoder = BpeEncoder.fromFile('engine/models/tiny-coder/tokenizer.json');
  const builder = new SampleBuilder(encoder, new EditorSamples(tinyCoder, 400), new Random(5));
  const [prefix, middle, suffix, end] = ['fim_prefix', 'fim_middle', 'fim_suffix', 'endoftext'].map((name) =>
    encoder.special(`<|${name}|>` as '<|fim_prefix|>'),
  );
  const documents = [document, sibling];
  const owner = { id: 'npm:p@1', documents, context: new PackageContext(documents) };
  let suffixFirst = 0;
  let gaps = 0;
  for (let i = 0; i < 400; i++) {
    const sample = builder.build(owner, document, 400);
    if (!sample) continue;
    assert.ok(sample.length <= 400);
    assert.equal(sample.at(-1), end);
    assert.equal(sample.filter((id) => id === end).length, 1);
    const [atPrefix, atSuffix, atMiddle] = [prefix, suffix, middle].map((id) => sample.indexOf(id!));
    assert.equal(sample.filter((id) => id === middle).length, atMiddle! < 0 ? 0 : 1);
    if (atMiddle! < 0) continue;
    gaps++;
    if (atSuffix! < atPrefix!) suffixFirst++;
    assert.ok(Math.max(atPrefix!, atSuffix!) < atMiddle!);
  }
  assert.ok(gaps > 200);
  assert.ok(suffixFirst > gaps * 0.8);
});

/** `│` on both sides of what is missing. */
function editorSample(marked: string, ...others: CorpusDocument[]) {
  const [before, missing, after] = marked.split('│') as [string, string, string];
  const edited = { ...document, text: before + missing + after };
  const context = new PackageContext([edited, ...others]);
  const span = { start: before.length, end: before.length + missing.length };
  const sample = new EditorSamples(tinyCoder, 513).build(context, edited, span, 8185);
  return sample && tinyCoder.decodeVisible(sample);
}

test('a sample of the editor is the prompt and then all that the engine leaves to the model', () => {
  const head = '<|file_sep|>src/total.ts\n';
  assert.equal(
    editorSample('a = │b + 1;│\nc = 2;\n'),
    `${head}<|fim_suffix|>\nc = 2;\n<|fim_prefix|>a = <|fim_middle|>b + 1;<|endoftext|>`,
  );
  // The indentation of an empty line, and the closers that the editor put after the cursor.
  assert.equal(
    editorSample('f() {\n  │return 1;│\n}\n'),
    `${head}<|fim_suffix|>\n}\n<|fim_prefix|>f() {\n<|fim_middle|>  return 1;<|endoftext|>`,
  );
  assert.equal(
    editorSample('f(│a, b│));\ng();\n'),
    `${head}<|fim_suffix|>\ng();\n<|fim_prefix|>f(<|fim_middle|>a, b));<|endoftext|>`,
  );
  assert.equal(
    editorSample('f(│a│, b);\n'),
    `${head}<|fim_suffix|>, b);\n<|fim_prefix|>f(<|fim_middle|>a<|endoftext|>`,
  );
});

test('a sample of the editor has what is like it in its package, and none is longer than asked', () => {
  const like = {
    ...sibling,
    text: 'export function parseHeader(reader: Reader) {\n  return reader.take(4);\n}\n',
  };
  const data = { ...like, path: 'data.json', language: 'json' } as const;
  const sample = editorSample('const header = parseHeader(│reader│);\n', like, data)!;
  assert.match(sample, /^<\|file_sep\|>src\/sum\.ts\nexport function parseHeader/u);
  assert.doesNotMatch(sample, /data\.json/u);
  assert.equal(editorSample(`x = │${'1, '.repeat(600)}│];\n`), undefined);
});

test('windows are full or nearly, hold whole samples, and lose none but those still open', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 1, max: 100 }), { maxLength: 400 }), (lengths) => {
      const packer = new WindowPacker(100);
      const windows = lengths.flatMap((length, index) => packer.add(new Array<number>(length).fill(index)));
      const seen = new Map<number, number>();
      for (const window of windows) {
        assert.ok(window.length <= 100);
        for (const index of window) seen.set(index, (seen.get(index) ?? 0) + 1);
      }
      for (const [index, count] of seen) assert.equal(count, lengths[index]);
      assert.ok(lengths.length - seen.size <= 65 * 100);
    }),
  );
});
