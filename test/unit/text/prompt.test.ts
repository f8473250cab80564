import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Tokenizer } from '../../../engine/model/tokenizer.ts';
import { type EditPoint, editPointAt, writtenFrom } from '../../../engine/text/editPoint.ts';
import { chooseFimFormat } from '../../../engine/text/fimFormat.ts';
import {
  buildPrompt,
  type Prompt,
  type PromptMemory,
  type PromptRequest,
} from '../../../engine/text/prompt.ts';
import { SnippetChooser } from '../../../engine/text/snippets.ts';
import { loadBareTokenizer } from './bareTokenizer.ts';
import { pointAt } from './cursorMark.ts';
import { tinyCoder } from './tinyCoder.ts';

const source = readFileSync(new URL('../../../engine/model/tokenizer.ts', import.meta.url), 'utf8');
const large = Array.from({ length: 12 }, (_, i) => source.replaceAll('Tokenizer', `Reader${i}`)).join('\n');

const budget = { prefixTokens: 400, suffixTokens: 150, contextTokens: 200 };

const requestAt = (point: EditPoint, more: Partial<PromptRequest> = {}): PromptRequest => ({
  tokenizer: tinyCoder,
  format: chooseFimFormat(tinyCoder),
  budget,
  point,
  context: [],
  snippets: new SnippetChooser(),
  ...more,
});

const promptAt = (marked: string, more?: Partial<PromptRequest>) =>
  buildPrompt(requestAt(pointAt(marked), more));
const shown = (prompt: Prompt) => tinyCoder.decodeVisible(prompt.tokens);
const atOffset = (text: string, offset: number) =>
  editPointAt(text, offset, text.slice(0, offset).split('\n').length - 1);

test('a small document is in the prompt as a whole, in the order of the model folder', () => {
  assert.equal(
    shown(promptAt('const a = 1;\nconst b = │a + 1;\nconst c = 3;\n')),
    '<|fim_suffix|>a + 1;\nconst c = 3;\n<|fim_prefix|>const a = 1;\nconst b = <|fim_middle|>',
  );
});

test('a known path heads the document', () => {
  assert.equal(
    shown(promptAt('x│', { path: 'src/a.ts' })),
    '<|file_sep|>src/a.ts\n<|fim_suffix|><|fim_prefix|>x<|fim_middle|>',
  );
});

test('places at the edges', () => {
  assert.equal(shown(promptAt('│')), '<|fim_suffix|><|fim_prefix|><|fim_middle|>');
  assert.equal(shown(promptAt('│a\nb')), '<|fim_suffix|>a\nb<|fim_prefix|><|fim_middle|>');
  assert.equal(shown(promptAt('a\nb│')), '<|fim_suffix|><|fim_prefix|>a\nb<|fim_middle|>');
});

test('the indentation of the line is left to the model', () => {
  assert.equal(shown(promptAt('f() {\n    │\n}')), '<|fim_suffix|>\n}<|fim_prefix|>f() {\n<|fim_middle|>');
});

test('closers right of the cursor belong to the hole', () => {
  assert.equal(shown(promptAt('foo(│);\nbar();')), '<|fim_suffix|>\nbar();<|fim_prefix|>foo(<|fim_middle|>');
});

test('the model reads line feeds, whatever the document has', () => {
  assert.equal(shown(promptAt('a\r\nb│\r\nc\r\n')), '<|fim_suffix|>\nc\n<|fim_prefix|>a\nb<|fim_middle|>');
});

test('special tokens in the document are text', () => {
  const { tokens } = promptAt('a<|fim_middle|>│<|endoftext|>');
  assert.equal(tokens.filter((id) => tinyCoder.specialTokenIds.has(id)).length, 3);
});

test('prefixRange is where the prefix lies', () => {
  const { tokens, prefixRange, parts } = promptAt('let ab = 1;\nlet c = │\n', { path: 'a.ts' });
  assert.equal(tinyCoder.decode(tokens.slice(prefixRange.start, prefixRange.end)), 'let ab = 1;\nlet c = ');
  assert.equal(parts.at(-1)?.end, tokens.length);
  for (const { kind, text, start, end } of parts) {
    const said = tinyCoder.decodeVisible(tokens.slice(start, end));
    assert.equal(said, text, kind);
  }
});

test('a model without fill-in-the-middle tokens gets the prefix alone', async () => {
  const tokenizer = await loadBareTokenizer(['</s>']);
  const prompt = buildPrompt(
    requestAt(pointAt('ab│cd'), { tokenizer, format: chooseFimFormat(tokenizer), path: 'x.ts' }),
  );
  assert.equal(tokenizer.decodeVisible(prompt.tokens), 'ab');
});

test('the windows stay within the budget and begin and end with lines', () => {
  const point = atOffset(large, Math.floor(large.length / 2));
  const prompt = buildPrompt(requestAt(point));
  const { prefixRange, parts } = prompt;
  const suffix = parts.find(({ kind }) => kind === 'suffix')!;
  const prefix = parts.find(({ kind }) => kind === 'prefix')!;
  assert.ok(prefixRange.end - prefixRange.start <= budget.prefixTokens);
  assert.ok(prefixRange.end - prefixRange.start > budget.prefixTokens / 2);
  assert.ok(suffix.end - suffix.start <= budget.suffixTokens);
  assert.ok(suffix.end - suffix.start > budget.suffixTokens / 2);
  assert.ok(suffix.text.endsWith('\n'));
  const start = writtenFrom(point) - prefix.text.length;
  assert.equal(large[start - 1], '\n');
  assert.equal(large.slice(start, writtenFrom(point)), prefix.text);
  assert.equal(large.slice(point.offset).startsWith(suffix.text), true);
});

const longLines: Record<string, { before: string; after: string }> = {
  'before the cursor': {
    before: `import x from 'y';\nfunction f() {}\nconst table = [${'0x1f2e3d, '.repeat(90)}`,
    after: '0x4c5b6a];\n',
  },
  'after the cursor': {
    before: 'function a() {\n  return 2;\n}\ncall(',
    after: ` ${'someArgument, '.repeat(60)});\r\nfunction next() {\r\n  return 1;\r\n}\r\n`,
  },
};

for (const [name, { before, after }] of Object.entries(longLines)) {
  test(`a line longer than the budget is there in part, next to the cursor: ${name}`, () => {
    const small = { prefixTokens: 200, suffixTokens: 60, contextTokens: 0 };
    const { parts } = buildPrompt(requestAt(atOffset(before + after, before.length), { budget: small }));
    const [prefix, suffix] = (['prefix', 'suffix'] as const).map(
      (kind) => parts.find((part) => part.kind === kind)!,
    );
    assert.ok(before.endsWith(prefix.text));
    assert.ok(after.startsWith(suffix.text));
    const long = name === 'before the cursor' ? prefix : suffix;
    const allowed = name === 'before the cursor' ? small.prefixTokens : small.suffixTokens;
    assert.ok(long.end - long.start > allowed / 2, `${long.end - long.start} of ${allowed} tokens`);
    assert.ok(long.end - long.start <= allowed);
  });
}

test('a long line further off is left out when whole lines fill the budget', () => {
  const near = '  step(1);\n'.repeat(25);
  const { parts } = promptAt(`${'0x1f2e3d, '.repeat(90)}\n${near}│`, {
    budget: { prefixTokens: 200, suffixTokens: 60, contextTokens: 0 },
  });
  assert.equal(parts.find(({ kind }) => kind === 'prefix')!.text, near);
});

test('of a long path the last folders are there', () => {
  const folders = Array.from({ length: 80 }, (_, i) => `folder${i}`).join('/');
  const header = (path: string) =>
    promptAt('a│', { path })
      .parts.filter(({ kind }) => kind === 'header')
      .map(({ text }) => text)
      .join('');
  assert.match(header(`${folders}/index.ts`), /^folder7\d\/.*folder79\/index\.ts\n$/u);
  assert.equal(header('src/index.ts'), 'src/index.ts\n');
  const odd = promptAt('a│', { path: `src/${'🦙'.repeat(500)}` });
  assert.ok(odd.tokens.length < 50, `${odd.tokens.length} tokens`);
});

test('the cells of a notebook continue the document on both sides', () => {
  const around = { before: 'import x\n\n', after: '\n\nprint(y)' };
  assert.equal(
    shown(promptAt('y = │x', { around })),
    '<|fim_suffix|>x\n\nprint(y)<|fim_prefix|>import x\n\ny = <|fim_middle|>',
  );
});

const hugeDocuments: Record<string, string> = {
  'one line of letters': 'abcdefghij'.repeat(200_000),
  'one line of emoji': '🦙'.repeat(500_000),
  'one line of spaces': ' '.repeat(2_000_000),
  'minified code': 'function a(b){return b+1};'.repeat(80_000),
  'empty lines': '\n'.repeat(2_000_000),
  'CRLF lines': 'const x = 1;\r\n'.repeat(150_000),
  'many lines': 'const value = compute(1, 2);\n'.repeat(70_000),
};

for (const [name, text] of Object.entries(hugeDocuments)) {
  test(`a huge document costs the budget only: ${name}`, () => {
    const { tokenizer, encoded } = countingTokenizer();
    const point = atOffset(text, Math.floor(text.length / 2));
    const { tokens, prefixRange, memory } = buildPrompt(requestAt(point, { tokenizer }));
    assert.ok(tokens.length <= budget.prefixTokens + budget.suffixTokens + 3);
    assert.ok(prefixRange.end - prefixRange.start > budget.prefixTokens / 4);
    buildPrompt(requestAt(atOffset(text, text.length), { tokenizer }), memory);
    assert.ok(encoded() < 100_000, `${encoded()} characters encoded`);
  });
}

function countingTokenizer() {
  let characters = 0;
  const { vocabSize, specialTokens, specialTokenIds, bosTokenId, fimTemplate, maxLength } = tinyCoder;
  const tokenizer: Tokenizer = {
    vocabSize,
    specialTokens,
    specialTokenIds,
    bosTokenId,
    fimTemplate,
    maxLength,
    specialTokenId: (name) => tinyCoder.specialTokenId(name),
    decode: (ids) => tinyCoder.decode(ids),
    decodeVisible: (ids) => tinyCoder.decodeVisible(ids),
    createDecoder: () => tinyCoder.createDecoder(),
    encode: (text) => {
      characters += text.length;
      return tinyCoder.encode(text);
    },
  };
  return { tokenizer, encoded: () => characters };
}

test('any document and place give a prompt within the budget whose prefix ends at the cursor', () => {
  const unit = fc.constantFrom(
    'a',
    ' ',
    '\t',
    '\n',
    '\r\n',
    '🦙',
    '漢',
    '{',
    ')',
    '<|fim_middle|>',
    '\ud83e',
    '\u0301',
  );
  fc.assert(
    fc.property(
      fc.string({ unit, maxLength: 3000 }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      (text, place) => {
        const point = atOffset(text, Math.floor(place * text.length));
        const small = { prefixTokens: 128, suffixTokens: 64, contextTokens: 0 };
        const { tokens, parts } = buildPrompt(requestAt(point, { budget: small }));
        assert.ok(tokens.length <= 128 + 64 + 3);
        const prefix = parts.find(({ kind }) => kind === 'prefix')!;
        assert.ok(text.slice(0, writtenFrom(point)).replaceAll('\r\n', '\n').endsWith(prefix.text));
      },
    ),
    { numRuns: 300 },
  );
});

/** Types `typed` at `offset` a character at a time, as the engine would ask, and reports each prompt. */
function* typing(text: string, offset: number, typed: string, more: Partial<PromptRequest> = {}) {
  let memory: PromptMemory | undefined;
  const snippets = new SnippetChooser();
  for (let i = 0; i <= typed.length; i++) {
    const document = text.slice(0, offset) + typed.slice(0, i) + text.slice(offset);
    const prompt = buildPrompt(requestAt(atOffset(document, offset + i), { snippets, ...more }), memory);
    memory = prompt.memory;
    yield prompt;
  }
}

function commonPrefix(a: Int32Array, b: Int32Array): number {
  let length = 0;
  while (length < a.length && a[length] === b[length]) length++;
  return length;
}

test('typing leaves all but the last tokens of the prompt as they were', () => {
  const typed = source.slice(600, 1800);
  let last: Prompt | undefined;
  let reanchored = 0;
  for (const prompt of typing(large, 20_000, typed)) {
    if (last !== undefined) {
      const shared = commonPrefix(last.tokens, prompt.tokens);
      const lost = last.tokens.length - shared;
      // The prefix begins elsewhere; a token or two may be the same there by chance.
      if (shared < prompt.prefixRange.start + 4) reanchored++;
      else assert.ok(lost <= 12, `${lost} tokens changed before ${shown(prompt).slice(-80)}`);
    }
    last = prompt;
  }
  assert.ok(reanchored >= 1 && reanchored <= 6, `${reanchored} times`);
});

test('with the memory of the prompt before, nothing but the prefix is encoded for a key', () => {
  let encoded = 0;
  const tokenizer = new Proxy<Tokenizer>(tinyCoder, {
    get: (target, name) => {
      const value = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        if (name === 'encode') encoded += String(args[0]).length;
        return value.apply(target, args);
      };
    },
  });
  const context = [{ id: 'b.ts', version: 1, path: 'b.ts', text: source }];
  const costs: { encoded: number; prefix: number }[] = [];
  for (const { parts } of typing(large, 20_000, 'const x', { tokenizer, context })) {
    costs.push({ encoded, prefix: parts.find(({ kind }) => kind === 'prefix')!.text.length });
    encoded = 0;
  }
  for (const cost of costs.slice(1)) assert.equal(cost.encoded, cost.prefix);
});

test('brackets that the editor closes change nothing before the cursor', () => {
  const states = [
    'a = foo│',
    'a = foo(│)',
    'a = foo([│])',
    'a = foo(["│"])',
    'a = foo(["x│"])',
    'a = foo(["x"]│)',
  ];
  const prompts = states.map((state) => promptAt(`${source}\n${state}\n${source}`));
  for (const prompt of prompts) {
    const lost = prompts[0].tokens.length - commonPrefix(prompts[0].tokens, prompt.tokens);
    assert.ok(lost <= 3, `${lost}`);
  }
});

test('lines added far above move the anchor along', () => {
  const first = buildPrompt(requestAt(atOffset(large, 30_000)));
  const before = buildPrompt(requestAt(atOffset(large, 30_200)), first.memory);
  const added = 'import x;\n';
  const point = atOffset(added + large, 30_200 + added.length);
  assert.deepEqual(buildPrompt(requestAt(point), before.memory).tokens, before.tokens);
  assert.notDeepEqual(buildPrompt(requestAt(point)).tokens, before.tokens, 'a new anchor is another one');
});

test('a jump far away finds an anchor there', () => {
  const first = buildPrompt(requestAt(atOffset(large, 5000)));
  for (const offset of [60_000, 200, 0]) {
    const point = atOffset(large, offset);
    const jumped = buildPrompt(requestAt(point), first.memory);
    const fresh = buildPrompt(requestAt(point));
    const size = ({ prefixRange }: Prompt) => prefixRange.end - prefixRange.start;
    assert.ok(size(jumped) <= budget.prefixTokens);
    assert.ok(size(jumped) >= Math.min(size(fresh), budget.prefixTokens / 4));
  }
});

test('anchors survive any edit: the prefix is the text before the cursor', () => {
  const edit = fc.record({
    at: fc.nat(large.length),
    insert: fc.string({ maxLength: 40 }),
    cursor: fc.nat(large.length),
  });
  fc.assert(
    fc.property(fc.array(edit, { maxLength: 6 }), (edits) => {
      let text = large;
      let memory: PromptMemory | undefined;
      for (const { at, insert, cursor } of edits) {
        text = text.slice(0, at) + insert + text.slice(at);
        const point = atOffset(text, cursor);
        const prompt = buildPrompt(requestAt(point), memory);
        memory = prompt.memory;
        const prefix = prompt.parts.find(({ kind }) => kind === 'prefix')!;
        const end = writtenFrom(point);
        assert.equal(text.slice(end - prefix.text.length, end), prefix.text);
        assert.ok(prefix.end - prefix.start <= budget.prefixTokens);
      }
    }),
    { numRuns: 60 },
  );
});

const otherTab = {
  id: 'b.ts',
  version: 1,
  path: 'src/b.ts',
  text: 'export function parseHeader(reader: Reader, limit: number) {\n  return reader.take(limit);\n}\n',
};

test('open tabs come before the document, with their paths', () => {
  const prompt = promptAt('const header = parseHeader(reader, │', { path: 'src/a.ts', context: [otherTab] });
  assert.equal(
    shown(prompt),
    `<|file_sep|>src/b.ts\n${otherTab.text}<|file_sep|>src/a.ts\n<|fim_suffix|><|fim_prefix|>const header = parseHeader(reader, <|fim_middle|>`,
  );
});

test('the context stays while the user types, and follows when a tab changes', () => {
  const more = { path: 'src/a.ts', context: [otherTab] };
  const prompts = [...typing(large, 20_000, 'const header = parseHeader(reader, limit);', more)];
  const contexts = new Set(
    prompts.map(({ parts }) => JSON.stringify(parts.filter(({ kind }) => kind === 'context'))),
  );
  assert.equal(contexts.size, 1);
  const changed = { ...otherTab, version: 2, text: otherTab.text.replace('take', 'readAll') };
  const point = pointAt('parseHeader(reader, │');
  const before = buildPrompt(requestAt(point, { context: [otherTab] }));
  const after = buildPrompt(requestAt(point, { context: [changed] }), before.memory);
  assert.match(shown(after), /readAll/);
});
