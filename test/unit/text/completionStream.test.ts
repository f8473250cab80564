import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CompletionStream, type StopReason } from '../../../engine/text/completionStream.ts';
import { tidy } from '../../../engine/text/tidy/tidy.ts';
import { pointAt } from './cursorMark.ts';
import { contextAt } from './tidy/tidyAt.ts';
import { tinyCoder } from './tinyCoder.ts';

const streamAt = (marked: string, maxTokens = 100) =>
  new CompletionStream({
    tokenizer: tinyCoder,
    point: pointAt(marked),
    maxTokens,
    tabSize: 4,
  });

function write(stream: CompletionStream, ids: Iterable<number>) {
  let stop: StopReason | undefined;
  for (const id of ids) stop = stream.push(id);
  return { stop, text: stream.text };
}

test('what comes after the end is ignored', () => {
  const ids = [...tinyCoder.encode('a + b\n'), ...tinyCoder.encode('c')];
  assert.deepEqual(write(streamAt('x = │'), ids), { stop: 'line', text: 'a + b' });
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

const looping = [
  { name: 'a line', at: 'f() {│\n}', unit: '\n  next();' },
  { name: 'several lines', at: 'f() {│\n}', unit: '\n  if (a) {\n    b();\n  }' },
  { name: 'words in the first line', at: 'x = │', unit: 'node.parent.' },
  { name: 'words in a later line', at: 'f() {│\n}', unit: 'node.parent.', start: '\n  a();\n  return ' },
  { name: 'a few characters', at: 'x = "│"', unit: '\\n\\' },
];

for (const { name, at, unit, start = '' } of looping) {
  test(`a loop stops as soon as it is one, and shows what it would have shown at maxTokens: ${name}`, () => {
    const written = tinyCoder.encode(start + unit.repeat(40));
    const stream = streamAt(at, 100);
    const stoppedAt = [...written].findIndex((id) => stream.push(id) !== undefined);
    assert.equal(stream.push(written[0]), 'loop');
    const copies = tinyCoder.decode(written.slice(0, stoppedAt + 1)).slice(start.length).length / unit.length;
    assert.ok(copies < (unit.length < 6 ? 9 : 4), `${copies} copies`);
    assert.deepEqual(
      tidy(stream.text, contextAt(at)),
      tidy(wholeLines(start + unit.repeat(40)), contextAt(at)),
    );
  });
}

test('what comes twice, or line by line almost the same, is no loop', () => {
  const at = 'f() {│\n}';
  const written =
    '\n  a();\n  a();\n  set(1);\n  set(2);\n  set(3);\n  [\n  ]\n  ]\n  ]\n  x = [0, 0, 0, 0, 0, 0];';
  assert.deepEqual(write(streamAt(at, 200), tinyCoder.encode(written)), { stop: undefined, text: written });
});

/** What is left of a text that maxTokens cut off. */
function wholeLines(text: string): string {
  return text.slice(0, text.lastIndexOf('\n')).trim() === '' ? text : text.slice(0, text.lastIndexOf('\n'));
}
