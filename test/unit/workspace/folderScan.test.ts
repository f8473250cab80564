import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join, relative } from 'node:path';
import { test } from 'node:test';
import { scan } from '../../../engine/workspace/folderScan.ts';
import { IgnoreRules } from '../../../engine/workspace/ignoreRules.ts';
import { makePipe, withPipes } from '../../namedPipe.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

async function found(folder: string, exclude: readonly string[] = [], path = folder): Promise<string[]> {
  const files: string[] = [];
  for await (const file of scan(folder, path, new IgnoreRules(folder, exclude))) {
    files.push(relative(folder, file.path));
  }
  return files.sort();
}

test('nested .gitignore files hold below their folder, a deeper one wins, as git itself sees it', async () => {
  const folder = temporaryFolder({
    '.gitignore': '*.log\n/build/\ndocs/*\n!docs/keep.md\n# comment\n\\#odd\ntaken/\n',
    '.git/info/exclude': 'private/\n',
    'a.ts': '',
    'a.log': '',
    '#odd': '',
    'build/out.ts': '',
    'lib/build/in.ts': '',
    'docs/skip.md': '',
    'docs/keep.md': '',
    'lib/.gitignore': '!important.log\ngenerated\n!taken/\n',
    'lib/important.log': '',
    'lib/other.log': '',
    'lib/generated/x.ts': '',
    'lib/taken/back.ts': '',
    'taken/away.ts': '',
    'private/p.ts': '',
  });
  execFileSync('git', ['init', '-q'], { cwd: folder });
  // `git init` keeps an info/exclude that exists.
  const untracked = execFileSync('git', ['ls-files', '-o', '-z', '--exclude-standard'], { cwd: folder });
  const expected = untracked.toString().split('\0').filter(Boolean).sort();
  assert.deepEqual(await found(folder), expected);
  assert.ok(expected.includes('lib/important.log') && !expected.includes('lib/other.log'));
});

test('rules of the repository above a workspace folder hold in it', async () => {
  const folder = temporaryFolder({
    '.git/HEAD': '',
    '.gitignore': 'packages/*/dist\n*.tmp\n',
    'packages/a/dist/x.js': '',
    'packages/a/src/x.ts': '',
    'packages/a/x.tmp': '',
  });
  assert.deepEqual(await found(join(folder, 'packages', 'a')), ['src/x.ts']);
});

test('a folder that the repository above ignores, opened itself, is read like any other', async () => {
  const folder = temporaryFolder({
    '.git/HEAD': '',
    '.gitignore': 'node_modules/\n*.js\n',
    'node_modules/koa/index.js': '',
    'node_modules/koa/node_modules/mime/index.js': '',
    'node_modules/koa/lib/.gitignore': 'tmp/\n',
    'node_modules/koa/lib/tmp/x.js': '',
    'node_modules/koa/lib/y.js': '',
  });
  assert.deepEqual(await found(join(folder, 'node_modules', 'koa')), [
    'index.js',
    'lib/.gitignore',
    'lib/y.js',
  ]);
  assert.deepEqual(await found(join(folder, 'node_modules', 'koa', 'lib')), ['.gitignore', 'y.js']);
});

test('a .gitignore above a folder that is in no repository does not matter', async () => {
  const folder = temporaryFolder({ '.gitignore': '*\n', 'work/a.ts': '' });
  assert.deepEqual(await found(join(folder, 'work')), ['a.ts']);
});

test("the editor's files.exclude globs hide files and folders", async () => {
  const folder = temporaryFolder({
    'src/a.ts': '',
    'src/a.js': '',
    'out/deep/b.ts': '',
    'sub/out/c.ts': '',
    '.cache/d.ts': '',
  });
  assert.deepEqual(await found(folder, ['**/*.{js,jsx}', 'out', '**/.cache']), ['src/a.ts', 'sub/out/c.ts']);
});

test('dependencies and lock files are left out unless a .gitignore takes them back', async () => {
  const files = { 'a.ts': '', 'node_modules/m/index.js': '', 'yarn.lock': '', 'x.min.js': '' };
  assert.deepEqual(await found(temporaryFolder(files)), ['a.ts']);
  const back = temporaryFolder({ ...files, '.gitignore': '!node_modules/\n!*.min.js\n' });
  assert.deepEqual(await found(back), ['.gitignore', 'a.ts', 'node_modules/m/index.js', 'x.min.js']);
});

test('secrets are never found, not even when asked for by path or taken back by a .gitignore', async () => {
  const folder = temporaryFolder({
    '.gitignore': '!.env\n!*.pem\n',
    '.env': '',
    'config/.env.production': '',
    'server.pem': '',
    '.ssh/config': '',
    'a.ts': '',
  });
  assert.deepEqual(await found(folder), ['.gitignore', 'a.ts']);
  assert.deepEqual(await found(folder, [], join(folder, '.env')), []);
  assert.deepEqual(await found(folder, [], join(folder, '.ssh', 'config')), []);
});

test('symbolic links are not followed: no loops, nothing from outside', async () => {
  const outside = temporaryFolder({ 'outside.ts': '' });
  const folder = temporaryFolder({ 'src/a.ts': '' });
  symlinkSync('..', join(folder, 'src', 'loop'));
  symlinkSync(outside, join(folder, 'src', 'outside'));
  symlinkSync(join(folder, 'src', 'a.ts'), join(folder, 'b.ts'));
  symlinkSync('nowhere', join(folder, 'dangling'));
  assert.deepEqual(await found(folder), ['src/a.ts']);
  assert.deepEqual(await found(folder, [], join(folder, 'src', 'outside', 'outside.ts')), []);
  const linked = join(outside, 'workspace');
  symlinkSync(folder, linked);
  assert.deepEqual(await found(linked), ['src/a.ts'], 'the workspace folder itself may be a link');
});

test('odd names are only names', async () => {
  const names = [
    'a b.ts',
    'ünï ©ode 🎉.ts',
    '..dots.ts',
    '...',
    '-rf',
    'new\nline.ts',
    '[x]{y}*.ts',
    '!not.ts',
  ];
  const folder = temporaryFolder(Object.fromEntries(names.map((name) => [name, ''])));
  assert.deepEqual(await found(folder, ['[', '**/{', '']), [...names].sort());
});

test('one file, one folder, and what is not there', async () => {
  const folder = temporaryFolder({ '.gitignore': 'no/\n', 'a.ts': '', 'b/c.ts': '', 'no/d.ts': '' });
  assert.deepEqual(await found(folder, [], join(folder, 'a.ts')), ['a.ts']);
  assert.deepEqual(await found(folder, [], join(folder, 'b')), ['b/c.ts']);
  assert.deepEqual(await found(folder, [], join(folder, 'no', 'd.ts')), []);
  assert.deepEqual(await found(folder, [], join(folder, 'gone', 'x.ts')), []);
});

test('a .gitignore that is no text breaks nothing', async () => {
  const folder = temporaryFolder({
    '.gitignore': Uint8Array.of(0xff, 0x00, 0x5b, 0x0a, 0x2a, 0x5b),
    'a.ts': '',
  });
  assert.deepEqual(await found(folder), ['.gitignore', 'a.ts']);
});

test('a pipe that is named like a file of rules is not waited for', withPipes, async () => {
  const folder = temporaryFolder({ 'a.ts': '', 'lib/b.ts': '' });
  makePipe(join(folder, '.gitignore'));
  assert.deepEqual(await found(folder), ['a.ts', join('lib', 'b.ts')]);
});
