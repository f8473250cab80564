import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, test } from 'node:test';
import { isNpmArchiveOf } from '../../../engine/training/corpus/npmArchive.ts';
import { readPackage } from '../../../engine/training/corpus/packageReader.ts';
import { missingPackages } from '../../../engine/training/corpus/unpackedPackages.ts';

const folder = mkdtempSync(join(tmpdir(), 'slipstream-packages-'));
after(() => rmSync(folder, { recursive: true }));

/** @param files by their paths in the package */
function unpack(name: string, files: Readonly<Record<string, string>>): string {
  const root = join(folder, name);
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  return root;
}

test('an archive belongs to the package of its whole name', () => {
  assert.equal(isNpmArchiveOf('eslint', 'eslint-9.1.0.tgz'), true);
  assert.equal(isNpmArchiveOf('eslint', 'eslint-plugin-react-7.37.5.tgz'), false);
  assert.equal(isNpmArchiveOf('ai', 'ai-6.0.0-beta.12.tgz'), true);
  assert.equal(isNpmArchiveOf('ai', 'ai-sdk-openai-3.0.141.tgz'), false);
  assert.equal(isNpmArchiveOf('@ai-sdk/openai', 'ai-sdk-openai-3.0.141.tgz'), true);
  assert.equal(isNpmArchiveOf('es', 'es-6-1.0.0.tgz'), false);
});

test('a package is missing until it is unpacked whole, whatever is named like it', () => {
  const npm = join(folder, 'npm');
  unpack('npm/eslint-plugin-react-7.37.5', { 'package.json': '{"name":"eslint-plugin-react"}' });
  unpack('npm/ai-sdk-openai-3.0.141', { 'package.json': '{"name":"@ai-sdk/openai"}' });
  unpack('npm/rxjs-7.8.2.partial', { 'package.json': '{"name":"rxjs"}' });
  unpack('npm/empty-1.0.0', { 'README.md': '' });
  const names = ['eslint', 'eslint-plugin-react', '@ai-sdk/openai', 'ai', 'rxjs'];
  assert.deepEqual(missingPackages('npm', names, npm), ['eslint', 'ai', 'rxjs']);

  const debian = join(folder, 'debian');
  unpack('debian/python3-flask@2.2.2-3', { 'usr/a.py': '' });
  assert.deepEqual(missingPackages('debian', ['python3', 'python3-flask'], debian), ['python3']);
});

const MIT_METADATA = 'Name: x\nClassifier: License :: OSI Approved :: MIT License\n';
const MODULES = 'usr/lib/python3/dist-packages';

/** A package with a module, its own metadata and those of what it vendors, both under MIT. */
function readDebian(name: string, copyright: string) {
  const root = unpack(`${name}@1.0-1`, {
    [`usr/share/doc/${name}/copyright`]: copyright,
    [`${MODULES}/x/core.py`]: '',
    [`${MODULES}/x/gnu.py`]: '',
    [`${MODULES}/x/_vendor/six.egg-info/PKG-INFO`]: MIT_METADATA,
    [`${MODULES}/x-1.0.egg-info/PKG-INFO`]: MIT_METADATA,
  });
  return readPackage('debian', root);
}

test('metadata do not overrule a copyright file that refuses the package', () => {
  assert.equal(readDebian('python3-gpl', 'Files: *\nLicense: GPL-3+\n'), undefined);
  assert.equal(readDebian('python3-mit', 'Files: *\nLicense: Expat\n')?.licence, 'Expat');
});

test('where the copyright file says nothing of the whole, the metadata do, and its stanzas still take files out', () => {
  const found = readDebian('python3-prose', 'The MIT licence.\n\nFiles: x/gnu.py\nLicense: GPL-2+\n');
  assert.equal(found?.licence, 'MIT');
  assert.deepEqual(found.paths, [`${MODULES}/x/core.py`]);
});

test('metadata of what a package vendors do not speak for it', () => {
  const root = unpack('python3-vendors@1.0-1', {
    'usr/share/doc/python3-vendors/copyright': 'See the file COPYING.\n',
    [`${MODULES}/x/core.py`]: '',
    [`${MODULES}/x/_vendor/six.egg-info/PKG-INFO`]: MIT_METADATA,
  });
  assert.equal(readPackage('debian', root), undefined);
});
