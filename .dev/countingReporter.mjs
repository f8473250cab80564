/**
 * A reporter for `node --test` that writes one JSON line a test, for the counts. Suites (`describe`) are not
 * tests; a file in which no test ran is reported by Node as a passing test with the file's name, and is a
 * failure here.
 */
import { resolve } from 'node:path';

function outcome({ type, data }) {
  if (data.file && data.nesting === 0 && resolve(data.name) === resolve(data.file)) {
    return type === 'test:fail' ? 'failed' : 'empty';
  }
  if (data.skip !== undefined || data.todo !== undefined) return 'skipped';
  return type === 'test:fail' ? 'failed' : 'passed';
}

export default async function* countingReporter(events) {
  for await (const event of events) {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') continue;
    if (event.data.details?.type === 'suite') continue;
    yield `${JSON.stringify({ outcome: outcome(event), file: event.data.file, name: event.data.name })}\n`;
  }
}
