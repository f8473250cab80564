import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { reportMarkdown } from '../../../../extension/benchmark/reportMarkdown.ts';
import { parseReport } from '../../../../extension/benchmark/reportSchema.ts';

const report = parseReport(readFileSync('test/fixtures/benchmark/report.json', 'utf8'));

/** The cells of each row of the table, the heading first. */
const table = (markdown: string) =>
  markdown
    .split('\n')
    .filter((line) => line.startsWith('|') && !line.includes('---'))
    .map((line) => line.slice(2, -2).split(' | '));

test('the sentence, a row for each result, and what it was measured on', () => {
  const markdown = reportMarkdown(report);
  assert.ok(markdown.includes(report.summary));
  const [heading, ...rows] = table(markdown);
  assert.equal(rows.length, report.results.length);
  for (const row of rows) assert.equal(row.length, heading.length);
  for (const [i, { speedup, tasks }] of report.results.entries()) {
    assert.equal(rows[i][heading.indexOf('Speed-up')], `${speedup.toFixed(2)}x`);
    assert.ok(rows[i][0].endsWith(`(${tasks})`));
  }
  assert.ok(markdown.includes(`${report.machine.cores} x ${report.machine.cpu}`));
  assert.ok(!markdown.includes('Cancelled'));
});

const ngramDiffers = report.results.map((result) => ({ ...result, lossless: result.algorithm !== 'ngram' }));

test('what is wrong is said', () => {
  const difference = {
    task: 0,
    algorithm: 'ngram',
    position: 0,
    expected: null,
    actual: null,
    is_fault: true,
    cause: 'ngram ended where plain decoding wrote "|".',
  } as const;
  const markdown = reportMarkdown({
    ...report,
    cancelled: true,
    differences: [difference],
    results: ngramDiffers,
  });
  assert.match(markdown, /^Cancelled/m);
  assert.match(markdown, /^- \*\*Error:\*\* ngram ended where plain decoding wrote "\|"\.$/m);
  assert.equal(table(markdown).filter((row) => row.at(-1) === '**NO**').length, 5);
});

test('near-ties of a graphics processor are named as such', () => {
  const nearTie = {
    task: 0,
    algorithm: 'ngram',
    position: 0,
    expected: null,
    actual: null,
    is_fault: false,
  } as const;
  const markdown = reportMarkdown({
    ...report,
    differences: [{ ...nearTie, cause: 'ngram ended.' }],
    results: ngramDiffers,
  });
  assert.match(markdown, /^- ngram ended\.$/m);
  const cells = table(markdown).map((row) => row.at(-1));
  assert.equal(cells.filter((cell) => cell === 'but for near-ties').length, 5);
  assert.equal(cells.includes('**NO**'), false);
});
