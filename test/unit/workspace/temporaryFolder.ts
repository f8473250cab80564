import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';

/** A folder with these files (by relative path) that is gone after the test. */
export function temporaryFolder(
  t: TestContext,
  files: Readonly<Record<string, string | Uint8Array>>,
): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'slipstream-test-')));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, content] of Object.entries(files)) put(join(folder, path), content);
  return folder;
}

export function put(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, content);
}
