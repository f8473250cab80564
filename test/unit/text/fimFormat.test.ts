import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlipstreamError } from '../../../engine/errors.ts';
import type { Tokenizer } from '../../../engine/model/tokenizer.ts';
import { chooseFimFormat } from '../../../engine/text/fimFormat.ts';
import type { TemplatePart } from '../../../engine/text/promptTemplate.ts';
import { loadBareTokenizer } from './bareTokenizer.ts';
import { tinyCoder } from './tinyCoder.ts';

const families: [name: string, tokens: string[], hole: string, namedHole: string][] = [
  [
    'qwen2.5-coder',
    ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>', '<|fim_pad|>', '<|repo_name|>', '<|file_sep|>'],
    '<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>',
    '<|file_sep|>{path}\n<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>',
  ],
  [
    'starcoder2',
    ['<fim_prefix>', '<fim_suffix>', '<fim_middle>', '<file_sep>', '<repo_name>'],
    '<fim_prefix>{prefix}<fim_suffix>{suffix}<fim_middle>',
    '<file_sep><fim_prefix>{path}\n{prefix}<fim_suffix>{suffix}<fim_middle>',
  ],
  [
    'deepseek-coder',
    ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>'],
    '<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>',
    '#{path}\n<｜fim▁begin｜>{prefix}<｜fim▁hole｜>{suffix}<｜fim▁end｜>',
  ],
  [
    'codellama',
    ['▁<PRE>', '▁<SUF>', '▁<MID>', '▁<EOT>'],
    '▁<PRE>{prefix}▁<SUF>{suffix}▁<MID>',
    '▁<PRE>{prefix}▁<SUF>{suffix}▁<MID>',
  ],
  [
    'codestral',
    ['[SUFFIX]', '[PREFIX]'],
    '[SUFFIX]{suffix}[PREFIX]{prefix}',
    '[SUFFIX]{suffix}[PREFIX]{prefix}',
  ],
  [
    'codegemma',
    ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>', '<|file_separator|>'],
    '<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>',
    '{path}\n<|fim_prefix|>{prefix}<|fim_suffix|>{suffix}<|fim_middle|>',
  ],
  [
    'seed-coder',
    ['<[fim-suffix]>', '<[fim-prefix]>', '<[fim-middle]>'],
    '<[fim-suffix]>{suffix}<[fim-prefix]>{prefix}<[fim-middle]>',
    '<[fim-suffix]>{suffix}<[fim-prefix]>{prefix}<[fim-middle]>',
  ],
  ['prefix only', ['<s>', '</s>'], '{prefix}', '{prefix}'],
];

for (const [name, tokens, hole, namedHole] of families) {
  test(`tokens tell the format: ${name}`, async () => {
    const tokenizer = await loadBareTokenizer(tokens);
    const format = chooseFimFormat(tokenizer);
    assert.equal(format.name, name);
    assert.equal(written(format.hole, tokenizer), hole);
    assert.equal(written(format.namedHole, tokenizer), namedHole);
    const fixed = [...format.hole, ...format.namedHole].filter((part) => part.kind === 'text');
    assert.ok(
      fixed.every(({ text }) => !text.includes('fim')),
      'control tokens are tokens, not text',
    );
  });
}

test("the model folder's template wins over the tokens", () => {
  const format = chooseFimFormat(tinyCoder);
  assert.equal(written(format.hole, tinyCoder), '<|fim_suffix|>{suffix}<|fim_prefix|>{prefix}<|fim_middle|>');
  assert.equal(
    written(format.namedHole, tinyCoder),
    '<|file_sep|>{path}\n<|fim_suffix|>{suffix}<|fim_prefix|>{prefix}<|fim_middle|>',
  );
  assert.equal(format.repo, undefined);
});

test('a template that has a place for the path gets no other', async () => {
  const template = '<|fim_prefix|>{path}|{prefix}<|fim_suffix|>{suffix}<|fim_middle|>';
  const names = ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>', '<|file_sep|>'];
  const tokenizer = await loadBareTokenizer(names, template);
  const format = chooseFimFormat(tokenizer);
  assert.equal(written(format.namedHole, tokenizer), template);
});

test('a template without a place for the prefix is refused', async () => {
  for (const template of ['', '<|fim_middle|>', '{suffix}', '{prefix}{prefix}', '{prefix}{code}']) {
    const tokenizer = await loadBareTokenizer(['<|fim_middle|>'], template);
    assert.throws(
      () => chooseFimFormat(tokenizer),
      (error) => error instanceof SlipstreamError && error.code === 'model.corrupt',
      template,
    );
  }
});

test('a template with special tokens of another model is refused, by name', async () => {
  const tokenizer = await loadBareTokenizer(['<|fim_middle|>'], '<|fim_begin|>{prefix}<|fim_middle|>');
  assert.throws(() => chooseFimFormat(tokenizer), /holds <\|fim_begin\|>, which is no special token/);
});

function written(parts: readonly TemplatePart[], tokenizer: Tokenizer): string {
  return parts
    .map((part) => {
      if (part.kind === 'token') return tokenizer.decodeVisible([part.id]);
      return part.kind === 'text' ? part.text : `{${part.slot}}`;
    })
    .join('');
}
