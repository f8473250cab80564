/** In a folder of its own: the script looks for licences in the node_modules of the folder in which it runs. */
import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { temporaryFolder } from '../../temporaryFolder.ts';

/** Not imported as usual: it is JavaScript, of which the compiler knows no types. */
const script: { thirdPartyNotices(files: readonly string[]): string } = await import(
  new URL('../../../.dev/thirdPartyNotices.mjs', import.meta.url).href
);

const repository = process.cwd();
after(() => process.chdir(repository));
process.chdir(
  temporaryFolder({
    LICENSE: 'Copyright (c) us\n\nPermission is hereby granted to everybody.\n',
    'node_modules/outer/LICENSE': 'Copyright (c) outer\n',
    'node_modules/inner/LICENCE.md': 'Copyright (c) inner\n',
    'node_modules/inner/NOTICE': 'Inner has parts of others.\n',
    'node_modules/@vscode/tree-sitter-wasm/LICENSE': 'Copyright (c) compiler\n',
    'node_modules/@scope/nameless/package.json': '{}',
  }),
);

/** What is said of each package. */
function noticesOf(...files: string[]): readonly string[] {
  const [heading, ...notices] = script.thirdPartyNotices(files).split(/under these licences\.\n\n|-{80}\n\n/);
  assert.match(heading, /^Slipstream /);
  return notices.map((notice) => notice.trim()).filter((notice) => notice !== '');
}

test('the innermost package of a path is the one that was bundled; it is there once, with all that it says', () => {
  const nested = 'node_modules/outer/node_modules/inner/index.js';
  assert.deepEqual(noticesOf(nested, nested.replaceAll('/', '\\'), `/elsewhere/${nested}`), [
    'inner\n\nCopyright (c) inner\n\nInner has parts of others.',
  ]);
});

test('packages come in the order of their names; our own files are no package', () => {
  const notices = noticesOf('node_modules/outer/a.js', 'engine/main.ts', 'node_modules/inner/b.js');
  assert.deepEqual(
    notices.map((notice) => notice.split('\n')[0]),
    ['inner', 'outer'],
  );
  assert.deepEqual(noticesOf('engine/main.ts', 'media/icon.png'), []);
});

test('compiled grammars bring the copyrights of their authors, under the terms that they share with ours', () => {
  const [compiler, ...grammars] = noticesOf(
    'node_modules/@vscode/tree-sitter-wasm/wasm/tree-sitter-ruby.wasm',
  );
  assert.equal(compiler, '@vscode/tree-sitter-wasm\n\nCopyright (c) compiler');
  const ruby = grammars.find((notice) => notice.startsWith('tree-sitter-ruby\n'));
  assert.equal(
    ruby,
    'tree-sitter-ruby\n\nCopyright (c) 2016 Rob Rix\n\nMIT License\n\nPermission is hereby granted to everybody.',
  );
  assert.ok(grammars.length > 5, `${grammars.length}`);
  for (const notice of grammars) assert.match(notice, /^tree-sitter-\S+\n\nCopyright \(c\) /);
});

test('a package without a licence is named', () => {
  assert.throws(() => noticesOf('node_modules/@scope/nameless/a.js'), /@scope\/nameless has no licence/);
});
