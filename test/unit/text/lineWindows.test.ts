import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { cutWindows } from '../../../engine/text/lineWindows.ts';

test('every line is in a window, and every window is whole lines', () => {
  const line = fc.constantFrom('', '  ', 'a();', '  b();', '}');
  fc.assert(
    fc.property(fc.array(line, { maxLength: 60 }), fc.integer({ min: 1, max: 20 }), (lines, size) => {
      const covered = new Set<number>();
      for (const { firstLine, text } of cutWindows(lines.join('\n'), size)) {
        const expected = lines.slice(firstLine, firstLine + size);
        assert.equal(text, expected.join('\n').trimEnd());
        for (const at of expected.keys()) covered.add(firstLine + at);
      }
      for (const [at, text] of lines.entries())
        if (text.trim() !== '') assert.ok(covered.has(at), `line ${at}`);
    }),
  );
});

test('a window begins with the paragraph that begins in its first half', () => {
  const text = `${'x();\n'.repeat(12)}\nfunction f() {\n${'  y();\n'.repeat(6)}}\n`;
  const starts = cutWindows(text, 8).map(({ text: window }) => window.split('\n')[0]);
  assert.ok(starts.includes('function f() {'), JSON.stringify(starts));
});
