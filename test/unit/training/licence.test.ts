import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isPermissiveExpression,
  readCargoManifest,
  readDebianCopyright,
  readNpmManifest,
  readPythonMetadata,
} from '../../../engine/training/corpus/licence.ts';

test('expressions: one permissive choice is enough, one demanding part is too much', () => {
  const permissive = [
    'MIT',
    'Apache-2.0',
    'MIT OR GPL-2.0',
    '(MIT AND BSD-3-Clause)',
    'MIT/Apache-2.0',
    'Expat',
  ];
  const demanding = [
    'GPL-3.0',
    'MIT AND GPL-2.0',
    'LGPL-2.1',
    'MPL-2.0',
    'CC-BY-NC-4.0',
    'UNLICENSED',
    '',
    'SEE LICENSE',
  ];
  assert.deepEqual(
    permissive.filter((name) => !isPermissiveExpression(name)),
    [],
  );
  assert.deepEqual(demanding.filter(isPermissiveExpression), []);
});

const COPYRIGHT = `Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/

Files: *
Copyright: 2020 Somebody
License: Expat

Files: lib/extern/* src/gnu.c
Copyright: 2010 Other
License: GPL-2+

Files: debian/*
Copyright: 2021 Maintainer
License: GPL-3
`;

test('a Debian copyright file allows the package and forbids the files of a demanding stanza', () => {
  const verdict = readDebianCopyright(COPYRIGHT);
  assert.ok(verdict.kind === 'permissive');
  assert.equal(verdict.licence, 'Expat');
  assert.equal(verdict.allows('usr/lib/python3/dist-packages/pkg/core.py'), true);
  assert.equal(verdict.allows('usr/src/pkg/lib/extern/deep/file.c'), false);
  assert.equal(verdict.allows('pkg/src/gnu.c'), false);
  assert.equal(verdict.allows('pkg/src/agnu.c'), true);
});

test('a Debian copyright file refuses what is not permissive, and only that', () => {
  const kind = (copyright: string) => readDebianCopyright(copyright).kind;
  assert.equal(kind(COPYRIGHT.replace('Expat', 'LGPL-2.1+')), 'refused');
  assert.equal(kind(COPYRIGHT.replace('Expat', 'Somebodys-own')), 'refused');
  assert.equal(kind(COPYRIGHT.replace('License: Expat', 'License:')), 'unreadable');
  assert.equal(kind('This is free software, see the GPL.'), 'unreadable');
  assert.equal(kind(''), 'unreadable');
});

test('manifests of npm, Python and Rust', () => {
  assert.equal(readNpmManifest({ license: { type: 'MIT' } }), 'MIT');
  assert.equal(readNpmManifest({ license: 'AGPL-3.0' }), undefined);
  assert.equal(readNpmManifest({}), undefined);
  assert.equal(readCargoManifest('[package]\nlicense = "MIT OR Apache-2.0"\n'), 'MIT OR Apache-2.0');
  assert.equal(readCargoManifest('[package]\nname = "x"\n'), undefined);
  assert.equal(readPythonMetadata('Classifier: License :: OSI Approved :: MIT License\n'), 'MIT');
  const gpl = 'Classifier: License :: OSI Approved :: GNU General Public License v2 (GPLv2)\n';
  assert.equal(readPythonMetadata(`Classifier: License :: OSI Approved :: MIT License\n${gpl}`), undefined);
});
