import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompletionStream } from '../../../engine/text/completionStream.ts';
import { pointAt } from './cursorMark.ts';
import { tinyCoder } from './tinyCoder.ts';

const endOfText = tinyCoder.specialTokenId('<|endoftext|>')!;

const streamAt = (marked: string, maxTokens = 100) =>
  new CompletionStream({
    tokenizer: tinyCoder,
    point: pointAt(marked),
    stopTokenIds: tinyCoder.specialTokenIds,
    maxTokens,
    tabSize: 4,
  });

function write(stream: CompletionStream, ids: Iterable<number>) {
  for (const id of ids) stream.push(id);
  return { stop: stream.stopReason, text: stream.text };
}

test('an end token stops, what comes after it is ignored', () => {
  const ids = [...tinyCoder.encode('a + b'), endOfText, ...tinyCoder.encode('c')];
  assert.deepEqual(write(streamAt('x = │'), ids), { stop: 'endToken', text: 'a + b' });
});

test('every special token is an end token', () => {
  for (const id of tinyCoder.specialTokenIds) {
    assert.equal(streamAt('x = │').push(id), 'endToken');
  }
});

test('the text stops by its own rules', () => {
  assert.deepEqual(write(streamAt('x = │'), tinyCoder.encode('"é🦙漢"\ny')), {
    stop: 'line',
    text: '"é🦙漢"',
  });
});

test('maxTokens stops, and leaves whole lines where there are several', () => {
  const ids = tinyCoder.encode('first();\nsecond();\nthird');
  const count = tinyCoder.encode('first();\nsecond();\nth').length;
  assert.deepEqual(write(streamAt('│', count), ids), { stop: 'maxTokens', text: 'first();\nsecond();' });
  assert.deepEqual(write(streamAt('x = │', 2), tinyCoder.encode('abcdefghijk')).stop, 'maxTokens');
});

test('a character cut off by the end of the text is never split', () => {
  const [first] = tinyCoder.encode('🦙');
  const stream = streamAt('x = │');
  stream.push(first);
  assert.equal(stream.text, '');
});
