import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { readAsEdited, readTextFile } from '../../../engine/cli/files.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

test('a byte order mark is part of the bytes, and no character for who edits', async () => {
  const file = join(temporaryFolder({ 'marked.ts': '\ufeff\ufeffconst a = 1;' }), 'marked.ts');
  assert.equal(await readTextFile(file), '\ufeff\ufeffconst a = 1;');
  assert.equal(await readAsEdited(file), '\ufeffconst a = 1;');
});
