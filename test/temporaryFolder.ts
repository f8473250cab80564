import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after } from 'node:test';

/** A folder that is gone when the test file is through. */
export function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'slipstream-test-'));
  after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
