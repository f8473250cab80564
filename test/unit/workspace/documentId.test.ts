import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readablePath } from '../../../engine/workspace/documentId.ts';
import { WorkspaceFolders } from '../../../engine/workspace/workspaceFolders.ts';

const skip = process.platform === 'win32' && 'paths of another kind';

test('a document has the path that people read, whatever it is stored in', { skip }, () => {
  const paths = {
    'file:///a/my%20file.ts': '/a/my file.ts',
    '/a/of the index.ts': '/a/of the index.ts',
    'untitled:Untitled-1': 'Untitled-1',
    'vscode-notebook-cell:/a/b.ipynb#W0sZmlsZQ%3D%3D': '/a/b.ipynb',
    'vscode-vfs://github/owner/repo/src/my%20%C3%A9.ts?ref=1': '/owner/repo/src/my é.ts',
    'memfs:/100%.ts': '/100%.ts',
  };
  for (const [uri, path] of Object.entries(paths)) assert.equal(readablePath(uri), path);
  assert.equal(readablePath('C:\\a\\b.ts'), 'C:\\a\\b.ts');
});

test('a path in a virtual workspace is as one on disk', { skip }, () => {
  const folders = new WorkspaceFolders();
  folders.set([{ uri: 'vscode-vfs://github/owner/repo', name: 'repo', exclude: [] }]);
  assert.equal(folders.relativePath('vscode-vfs://github/owner/repo/src/my%20file.ts'), 'src/my file.ts');
  assert.equal(folders.relativePath('untitled:Untitled-1'), undefined);
});
