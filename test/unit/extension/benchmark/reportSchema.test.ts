import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import fc from 'fast-check';
import { taskClasses } from '../../../../engine/benchmark/benchmarkReport.ts';
import { algorithms } from '../../../../engine/protocol.ts';
import { draftSources } from '../../../../engine/tree/tokenTree.ts';
import { algorithmNames } from '../../../../extension/algorithmNames.ts';
import * as names from '../../../../extension/benchmark/reportNames.ts';
import { parseReport } from '../../../../extension/benchmark/reportSchema.ts';

const json = readFileSync('test/fixtures/benchmark/report.json', 'utf8');

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/** Every place of a document, as the keys that lead there. */
function placesOf(value: Json, at: readonly (string | number)[] = []): (readonly (string | number)[])[] {
  if (typeof value !== 'object' || value === null) return [at];
  const entries: (readonly [string | number, Json])[] = Array.isArray(value)
    ? [...value.entries()]
    : Object.entries(value);
  return entries.flatMap(([key, item]) => placesOf(item, [...at, key]));
}

/** A copy of the report in which one value is another one. */
function withValue(at: readonly (string | number)[], value: Json): string {
  const copy = JSON.parse(json);
  const parent = at.slice(0, -1).reduce((node, key) => node[key], copy);
  parent[at.at(-1)!] = value;
  return JSON.stringify(copy);
}

test('a report of the command line is read as it is', () => {
  assert.deepEqual(parseReport(json), JSON.parse(json));
});

test('all names that a report may hold are known', () => {
  assert.deepEqual(new Set(Object.keys(algorithmNames)), new Set<string>(algorithms));
  assert.deepEqual(names.taskClasses, taskClasses);
  assert.deepEqual(new Set(Object.keys(names.sourceNames)), new Set<string>(draftSources));
});

test('whatever one value is replaced by that is of another type, the message names the place', () => {
  const places = placesOf(JSON.parse(json));
  fc.assert(
    fc.property(fc.constantFrom(...places), (at) => {
      const dotted = at.join('.');
      assert.throws(
        () => parseReport(withValue(at, { not: 'it' })),
        ({ message }: Error) => /^[:.]/.test(message.slice(dotted.length)) && message.startsWith(dotted),
      );
    }),
    { numRuns: 60 },
  );
});

test('what is no report says so', () => {
  for (const [text, message] of [
    ['{', /JSON/],
    ['[]', /^schema_version: /],
    ['"report"', /Expected Object/],
    [withValue(['schema_version'], 2), /^schema_version: .*Expected 1/],
    [withValue(['created'], 'yesterday'), /^created: Expected a date/],
    [withValue(['traces', 0, 'task'], 12345), /not listed/],
    [withValue(['results'], []), /result over all tasks/],
    [withValue(['algorithms'], ['none']), /algorithm that is not listed/],
    [withValue(['model', 'cost_table', 'ms', 0], []), /^model\.cost_table: Each row/],
    [withValue(['results', 0, 'acceptance_rate'], 1.5), /^results\.0\.acceptance_rate/],
  ] as const) {
    assert.throws(() => parseReport(text), { message }, text.slice(0, 40));
  }
});

test('a draft whose nodes do not stand below their parents is refused', () => {
  const report = JSON.parse(json);
  const trace = report.traces.findIndex((one: { steps: { drafted: unknown[] }[] }) =>
    one.steps.some(({ drafted }) => drafted.length > 0),
  );
  const step = report.traces[trace].steps.findIndex(
    ({ drafted }: { drafted: unknown[] }) => drafted.length > 0,
  );
  assert.throws(
    () => parseReport(withValue(['traces', trace, 'steps', step, 'drafted', 0, 'parent'], 0)),
    /parent has to stand before/,
  );
});
