import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { LastSuggestion } from '../../../engine/draft/lastSuggestion.ts';
import { loadTokenizer } from '../../../engine/model/tokenizer.ts';

const tokenizer = await loadTokenizer(
  fileURLToPath(new URL('../../../engine/models/tiny-coder', import.meta.url)),
);
const DOCUMENT = 'file:///a.ts';
const BEFORE = 'import { readFile } from "node:fs";\n\nfunction area(width, height) {\n  ';
const SUGGESTED = 'return width * height;\n}\n';

function suggested(): LastSuggestion {
  const suggestion = new LastSuggestion((text) => tokenizer.encode(text), tokenizer.vocabSize);
  suggestion.record({ document: DOCUMENT, textBefore: BEFORE }, SUGGESTED);
  return suggestion;
}

/** The best draft for a cursor after `textBefore`, when `generated` has been written after it. */
function draft(suggestion: LastSuggestion, textBefore: string, generated = '', document = DOCUMENT): string {
  suggestion.begin({ document, textBefore });
  const cursor = tokenizer.encode(textBefore).slice(-32);
  suggestion.attach(Uint16Array.from(cursor));
  const query = [...cursor, ...tokenizer.encode(generated)].slice(-32);
  const [best] = suggestion.lookup(Uint16Array.from(query));
  if (best === undefined) return '';
  const end = best.text.tokens.indexOf(best.text.separator as never, best.next);
  return tokenizer.decode(best.text.tokens.subarray(best.next, end));
}

test('at the same place the whole suggestion is drafted', () => {
  assert.equal(draft(suggested(), BEFORE), SUGGESTED);
});

test('the rest is drafted wherever in it the user has typed to, also inside a word', () => {
  for (let typed = 1; typed < SUGGESTED.length; typed++) {
    assert.equal(draft(suggested(), BEFORE + SUGGESTED.slice(0, typed)), SUGGESTED.slice(typed));
  }
});

test('what was deleted again is drafted together with the suggestion', () => {
  assert.equal(draft(suggested(), BEFORE.slice(0, -6)), BEFORE.slice(-6) + SUGGESTED);
});

test('the draft follows what is generated of it', () => {
  assert.equal(draft(suggested(), BEFORE, 'return width'), ' * height;\n}\n');
});

test('after a divergence the suggestion is taken up again where it fits', () => {
  assert.equal(draft(suggested(), `${BEFORE}return 2 *`, ' width * height'), ';\n}\n');
});

test('typing against the suggestion, finishing it, another place and another document draft nothing', () => {
  assert.equal(draft(suggested(), `${BEFORE}x`), '');
  assert.equal(draft(suggested(), BEFORE + SUGGESTED), '');
  assert.equal(draft(suggested(), 'const unrelated = 1;\nconst other = '), '');
  assert.equal(draft(suggested(), BEFORE, '', 'file:///b.ts'), '');
});

test('edits far above the place do not matter', () => {
  const above = '// a long comment about nothing in particular\n'.repeat(10);
  const suggestion = suggested();
  suggestion.record({ document: DOCUMENT, textBefore: above + BEFORE }, SUGGESTED);
  assert.equal(draft(suggestion, `// new first line\n${above}${BEFORE}ret`), SUGGESTED.slice(3));
});

test('the newest suggestion at a place comes first; nothing generated forgets nothing', () => {
  const suggestion = suggested();
  suggestion.record({ document: DOCUMENT, textBefore: BEFORE }, 'return height * width;\n');
  suggestion.record({ document: DOCUMENT, textBefore: BEFORE }, '');
  assert.equal(draft(suggestion, BEFORE), 'return height * width;\n');
});
