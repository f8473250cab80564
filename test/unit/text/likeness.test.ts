import assert from 'node:assert/strict';
import { test } from 'node:test';
import { featuresOf, likenessTo, scoreOf } from '../../../engine/text/likeness.ts';

const score = (near: string, piece: string, rarity: Record<string, number> = {}) =>
  scoreOf(
    featuresOf(piece),
    likenessTo(near, (feature) => rarity[feature] ?? 1),
  );

test('definitions are seen in the usual languages', () => {
  const defining: Record<string, string> = {
    'export async function total(items) {': 'total',
    'const area = (a) => a;': 'area',
    'def mean(values):': 'mean',
    'pub fn parse(input: &str) -> Ast {': 'parse',
    'func Serve(w Writer) {': 'Serve',
    'interface Shape {': 'Shape',
    '  private async #load(path) {': 'load',
    '  resize(width, height) {': 'resize',
  };
  for (const [line, name] of Object.entries(defining)) {
    assert.ok(featuresOf(line).has(`def ${name}`), line);
  }
  assert.ok(!featuresOf('  resize(width, height);').has('def resize'));
});

test('what defines a name near the cursor is more like it than what uses it', () => {
  const definition = 'function priceOf(order) {\n  return order.net;\n}';
  const use = 'const cost = priceOf(order);\nreturn cost;\norder.net;';
  const near = 'const amount = priceOf(';
  assert.ok(score(near, definition) > score(near, use));
});

test('what is defined right here is not looked for', () => {
  const definition = 'function priceOf(order) {}';
  assert.ok(
    score('function priceOf(order) {\n  return ', definition) < score('return priceOf(order', definition),
  );
});

test('the nearest lines count most, and rare words more than common ones', () => {
  const near = 'alpha();\nother();\nother();\nbeta();\n';
  assert.ok(score(near, 'beta();') > score(near, 'alpha();'));
  assert.ok(score(near, 'alpha();', { alpha: 9 }) > score(near, 'beta();', { alpha: 9 }));
});

test('nothing in common, or nothing at all, is not alike', () => {
  assert.equal(score('alpha', 'beta'), 0);
  assert.equal(score('', 'beta'), 0);
  assert.equal(score('alpha', ''), 0);
});
