import assert from 'node:assert/strict';
import { test } from 'node:test';
import { promptBudget } from '../../engine/documentPrompts.ts';
import type { ModelRuntime } from '../../engine/modelRuntime.ts';

/** @returns tokens of a prompt, the frame left out */
function promptTokens(
  contextLength: number,
  maxTokens: number,
  maxLength = Number.POSITIVE_INFINITY,
): number {
  const runtime = { model: { info: { contextLength } }, tokenizer: { maxLength } } as ModelRuntime;
  const { prefixTokens, suffixTokens, contextTokens } = promptBudget({ runtime, maxTokens });
  return prefixTokens + suffixTokens + contextTokens;
}

test('a suggestion leaves the prompt half of the context, however long it may be', () => {
  const half = promptTokens(2048, 1024);
  assert.ok(half > 950 && half <= 1024, `${half}`);
  for (const maxTokens of [1025, 2047, 2048, 1e9]) assert.equal(promptTokens(2048, maxTokens), half);
  assert.ok(promptTokens(2048, 900) > half);
});

test('a prompt is no longer than suits the model, whatever there is room for', () => {
  assert.equal(promptTokens(2048, 2047, 512), promptTokens(2048, 128, 512));
  assert.equal(promptTokens(1e6, 128), promptTokens(1e6, 1024));
});
