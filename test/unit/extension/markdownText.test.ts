import assert from 'node:assert/strict';
import { test } from 'node:test';
import { markdownText } from '../../../extension/markdownText.ts';

test('paths and messages keep every character', () => {
  assert.equal(
    markdownText(String.raw`C:\Users\me\.models\a_b_c`),
    String.raw`C\:\\Users\\me\\\.models\\a\_b\_c`,
  );
  assert.equal(markdownText('<b>*no*</b> [x](y) `z`'), String.raw`\<b\>\*no\*\</b\> \[x\]\(y\) \`z\``);
  assert.equal(markdownText('ready, 1 of 2'), 'ready, 1 of 2');
});
