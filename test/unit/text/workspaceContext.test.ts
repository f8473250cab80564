import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WorkspaceContext } from '../../../engine/text/workspaceContext.ts';

const code = (name: string) =>
  Array.from({ length: 20 }, (_, i) => `${name}${'abcdefghijklmnopqrst'[i]}(${name}Value);`).join('\n');

function counting() {
  const asked: string[] = [];
  const context = new WorkspaceContext(async (near) => {
    asked.push(near);
    return { pieces: [], rarity: new Map() };
  });
  return { context, asked };
}

test('the first answer comes after the first prompt; typing on asks nothing until the place is another one', async () => {
  const { context, asked } = counting();
  const near = code('first');
  assert.equal(context.at('a', near).key, 0);
  await context.gather('a', near);
  const { key } = context.at('a', near);
  assert.notEqual(key, 0);
  for (const more of ['\n', '\nnext', '\nnext(value)', '\nnext(value);\nlast']) {
    assert.equal(context.at('a', near + more).key, key);
  }
  assert.equal(asked.length, 1);
  await context.gather('a', code('second'));
  assert.notEqual(context.at('a', code('second')).key, key);
  assert.equal(asked.length, 2);
});

test('documents do not share answers', async () => {
  const { context } = counting();
  await context.gather('a', code('first'));
  await context.gather('b', code('first'));
  assert.notEqual(context.at('a', code('first')).key, context.at('b', code('first')).key);
});

test('when the workspace has more to say, a place is asked about again, and has its last answer till then', async () => {
  const { context, asked } = counting();
  await context.gather('a', code('first'));
  const { key } = context.at('a', code('first'));
  context.askAgain();
  assert.equal(context.at('a', code('first')).key, key);
  await context.gather('a', code('first'));
  assert.notEqual(context.at('a', code('first')).key, key);
  assert.equal(asked.length, 2);
});
