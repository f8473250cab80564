import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { SlipstreamError } from '../../../engine/errors.ts';
import { loadTokenizer, type Tokenizer } from '../../../engine/model/tokenizer.ts';
import { makePipe, withPipes } from '../../namedPipe.ts';

const root = new URL('../../../', import.meta.url);
const tinyCoder = await loadTokenizer(fileURLToPath(new URL('engine/models/tiny-coder', root)));
const fixtures = fileURLToPath(new URL('test/fixtures/tokenizers/', root));
const qwen = await loadTokenizer(join(fixtures, 'qwen2.5-trimmed'));

const oddTexts: Record<string, string> = {
  empty: '',
  emoji: '🦙 🚀🚀 🇩🇪',
  zwjSequence: '👩‍👩‍👧‍👦 🏳️‍🌈 👍🏽',
  cjk: '漢字とカタカナ、한국어。',
  crlf: 'a\r\n\r\n  b\r\r\n\n',
  tabs: '\t\tif (x) {\n\t \t}',
  nul: 'a\0b\0\0',
  controls: '\u0001\u001b[31m\u007f\u0085\u2028\u2029',
  byteOrderMark: '\uFEFFconst x;\uFEFF',
  spaces: 'a    b      \n        c\u00a0\u3000d ',
  rightToLeft: 'שלום مرحبا \u202e!',
  beyondBmp: '𝒳 = 𠜎𠜱 + 𐍈',
  noncharacters: '\uFFFE\uFFFF\u{10FFFF}',
  fractions: '½ ¼ Ⅷ ٣٤',
};

for (const [name, text] of Object.entries(oddTexts)) {
  test(`odd text survives encoding and decoding: ${name}`, () => {
    for (const tokenizer of [tinyCoder, qwen]) assert.equal(tokenizer.decode(tokenizer.encode(text)), text);
  });
}

test('the ids are those of the reference implementation', async () => {
  const cases: { text: string; ids: number[] }[] = JSON.parse(
    await readFile(join(fixtures, 'qwen2.5-cases.json'), 'utf8'),
  );
  assert.equal(cases.length, 71);
  for (const { text, ids } of cases) {
    assert.deepEqual([...qwen.encode(text)], ids, JSON.stringify(text));
    assert.equal(qwen.decode(ids), text);
  }
});

test('any text comes back as its composed, well-formed self', () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: fc.constantFrom(...'aé \t\r\n{}<|>_0漢🦙', '\u0301', '\u200d', '\ud83e', '\udd99') }),
  );
  fc.assert(
    fc.property(text, (odd) => {
      const expected = Buffer.from(odd, 'utf8').toString('utf8').normalize('NFC');
      assert.equal(tinyCoder.decode(tinyCoder.encode(odd)), expected);
      assert.equal(streamed(tinyCoder, tinyCoder.encode(odd)).join(''), expected);
    }),
    { numRuns: 500 },
  );
});

test('lone surrogates become U+FFFD', () => {
  assert.equal(tinyCoder.decode(tinyCoder.encode('a\ud83eb\udd99')), 'a\ufffdb\ufffd');
});

test("the model's normalizer composes characters", () => {
  assert.equal(tinyCoder.decode(tinyCoder.encode('cafe\u0301')), 'caf\u00e9');
});

test('special tokens in a text are text', () => {
  for (const tokenizer of [tinyCoder, qwen]) {
    for (const name of ['<|fim_middle|>', '<|endoftext|>', '<|file_sep|>']) {
      const ids = tokenizer.encode(`a${name}b`);
      assert.ok(ids.every((id) => !tokenizer.specialTokenIds.has(id)));
      assert.equal(tokenizer.decode(ids), `a${name}b`);
    }
  }
});

test('special tokens are known by name, also where the file does not call them special', () => {
  assert.equal(tinyCoder.specialTokenId('<|fim_middle|>'), 8187);
  assert.equal(qwen.specialTokenId('<|fim_middle|>'), 151660);
  assert.ok(qwen.specialTokenIds.has(151660));
  assert.equal(tinyCoder.specialTokenId('function'), undefined);
  assert.equal(tinyCoder.vocabSize, 8192);
});

test('special tokens are left out of decoded text, and shown on demand', () => {
  const ids = [...tinyCoder.encode('é'), 8187, ...tinyCoder.encode('x'), 99_999];
  assert.equal(tinyCoder.decode(ids), 'éx');
  assert.equal(tinyCoder.decodeVisible(ids), 'é<|fim_middle|>x<?99999>');
});

test('a streaming decoder never ends inside a character', () => {
  const text = Object.values(oddTexts).join('').replaceAll('\uFFFD', '');
  const pieces = streamed(tinyCoder, tinyCoder.encode(text));
  assert.equal(pieces.join(''), text);
  assert.ok(
    pieces.some((piece) => piece === ''),
    'some character takes several tokens',
  );
  for (const piece of pieces) assert.ok(!/\uFFFD|\p{Surrogate}/u.test(piece), JSON.stringify(piece));
});

test('a streaming decoder gives up an unfinished character at the end', () => {
  const decoder = tinyCoder.createDecoder();
  const [first] = tinyCoder.encode('🦙');
  assert.equal(decoder.push(first), '');
  assert.equal(decoder.push(8185), '', 'a special token has no text');
  assert.equal(decoder.push(tinyCoder.encode('a')[0]), '\ufffda');
});

const megabytes: Record<string, string> = {
  'one letter': 'a'.repeat(1_000_000),
  spaces: `${' '.repeat(1_000_000)}x`,
  'one emoji': '🦙'.repeat(250_000),
  'no spaces': Array.from({ length: 1_000_000 }, (_, i) => String.fromCharCode(97 + ((i * i) % 26))).join(''),
};

for (const [name, line] of Object.entries(megabytes)) {
  test(`a line of 1 MB takes no more than seconds: ${name}`, () => {
    const start = performance.now();
    const ids = tinyCoder.encode(line);
    const elapsedMs = performance.now() - start;
    assert.equal(tinyCoder.decode(ids), line);
    assert.ok(elapsedMs < 5000, `${elapsedMs} ms`);
  });
}

test('very long pieces are cut in the same places whatever follows', () => {
  const shorter = tinyCoder.encode('🦙'.repeat(5000));
  const longer = tinyCoder.encode('🦙'.repeat(9000));
  assert.deepEqual(longer.subarray(0, shorter.length - 100), shorter.subarray(0, shorter.length - 100));
});

test('a SentencePiece-like BPE (Llama 2, Gemma) is decoded by its own alphabet', async () => {
  await inFolder(spmFiles, async (dir) => {
    const tokenizer = await loadTokenizer(dir);
    assert.equal(tokenizer.bosTokenId, 1);
    assert.deepEqual([...tokenizer.encode('ab é')], [8, 9, 6, 7]);
    assert.equal(tokenizer.decode([8, 9, 6, 7]), 'ab é');
    const decoder = tokenizer.createDecoder();
    assert.deepEqual(
      [8, 9, 6, 7].map((id) => decoder.push(id)),
      [' ab', ' ', '', 'é'],
      'the continuation of a text keeps its space',
    );
  });
});

test('faults name the file and what is wrong', async () => {
  const config = '{"fim_template": 3}';
  const faults: [files: Record<string, string>, code: string, message: RegExp][] = [
    [{}, 'model.notFound', /tokenizer\.json does not exist/],
    [{ 'tokenizer.json': '{"model": ' }, 'model.corrupt', /tokenizer\.json is not valid JSON/],
    [{ 'tokenizer.json': '[]' }, 'model.corrupt', /not a JSON object/],
    [{ 'tokenizer.json': '{}' }, 'model.corrupt', /"model" is missing/],
    [{ 'tokenizer.json': '{"model":{"type":"BPE"}}' }, 'model.corrupt', /vocab" is missing/],
    [{ 'tokenizer.json': '{"model":{"vocab":{"a":0.5},"merges":[]}}' }, 'model.corrupt', /whole number/],
    [{ 'tokenizer.json': '{"model":{"vocab":{"a":0},"merges":[1]}}' }, 'model.corrupt', /pairs/],
    [{ 'tokenizer.json': '{"model":{"type":"Unigram","vocab":[]}}' }, 'model.unsupported', /Unigram/],
    [{ ...spmFiles, 'tokenizer_config.json': config }, 'model.corrupt', /fim_template/],
    [
      { 'tokenizer.json': '{"model":{"vocab":{"a":0},"merges":[]},"normalizer":{"type":"Odd"}}' },
      'model.unsupported',
      /Odd/,
    ],
  ];
  for (const [files, code, message] of faults) {
    await inFolder(files, async (dir) => {
      await assert.rejects(loadTokenizer(dir), (error) => {
        assert.ok(error instanceof SlipstreamError);
        assert.equal(error.code, code);
        assert.match(error.message, message);
        return true;
      });
    });
  }
});

test('files may begin with a byte order mark', async () => {
  const marked = Object.fromEntries(Object.entries(spmFiles).map(([name, text]) => [name, `\ufeff${text}`]));
  const ids = (files: Record<string, string>) =>
    inFolder(files, async (dir) => [...(await loadTokenizer(dir)).encode('a b')]);
  assert.deepEqual(await ids(marked), await ids(spmFiles));
});

test('a pipe in the place of a file is not waited for', withPipes, async () => {
  await inFolder({}, async (dir) => {
    makePipe(join(dir, 'tokenizer.json'));
    await assert.rejects(loadTokenizer(dir), { code: 'io', message: /tokenizer\.json is not a file/ });
  });
});

const spmFiles = {
  'tokenizer.json': JSON.stringify({
    added_tokens: [{ id: 1, content: '<s>', special: true }],
    normalizer: {
      type: 'Sequence',
      normalizers: [
        { type: 'Prepend', prepend: '▁' },
        { type: 'Replace', pattern: { String: ' ' }, content: '▁' },
      ],
    },
    pre_tokenizer: null,
    post_processor: {
      type: 'TemplateProcessing',
      single: [{ SpecialToken: { id: '<s>', type_id: 0 } }, { Sequence: { id: 'A', type_id: 0 } }],
    },
    decoder: null,
    model: {
      type: 'BPE',
      byte_fallback: true,
      vocab: { '<unk>': 0, '<s>': 1, a: 2, b: 3, '▁a': 4, ab: 5, '<0xC3>': 6, '<0xA9>': 7, '▁ab': 8, '▁': 9 },
      merges: ['▁ a', '▁a b'],
    },
  }),
};

function streamed(tokenizer: Tokenizer, ids: Int32Array): string[] {
  const decoder = tokenizer.createDecoder();
  return Array.from(ids, (id) => decoder.push(id));
}

async function inFolder<T>(files: Record<string, string>, use: (dir: string) => Promise<T>): Promise<T> {
  const dir = await mkdtemp(join(tmpdir(), 'slipstream-tokenizer-'));
  try {
    for (const [name, text] of Object.entries(files)) await writeFile(join(dir, name), text);
    return await use(dir);
  } finally {
    await rm(dir, { recursive: true });
  }
}
