import assert from 'node:assert/strict';
import { test } from 'node:test';
import { encodingFaults, megabytesPerSecond } from '../../../../engine/bench/micro/tokenizer.ts';
import { embeddedModelDir } from '../../../../engine/embeddedModel.ts';
import { loadTokenizer } from '../../../../engine/model/tokenizer.ts';

const tokenizer = await loadTokenizer(embeddedModelDir);
const texts = ['export const a = 1;\n', 'for (const b of c) {\n  d(b);\n}\n'];
const tokens = texts.map((text) => [...tokenizer.encode(text)]);

test('the same tokens are no fault', () => {
  assert.deepEqual(encodingFaults(tokenizer, texts, tokens), []);
});

test('other tokens than the library has, and text that decoding changes, are faults', () => {
  assert.deepEqual(encodingFaults(tokenizer, texts, [tokens[0], tokens[0]]), [
    `The library has other tokens for ${JSON.stringify(texts[1])}...`,
  ]);
  const forgetful = { encode: tokenizer.encode.bind(tokenizer), decode: () => texts[0] };
  assert.deepEqual(encodingFaults(forgetful, texts, tokens), [
    `Decoding changes ${JSON.stringify(texts[1])}...`,
  ]);
});

test('a megabyte a second is a million bytes in 1,000 ms', () => {
  assert.equal(megabytesPerSecond(1_000_000, 1000), 1);
  assert.equal(megabytesPerSecond(500_000, 50), 10);
});
