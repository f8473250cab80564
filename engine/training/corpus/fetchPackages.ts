/**
 * Downloads and unpacks every package of `packages.json` through the ordinary clients (npm, apt).
 * Run: node --import tsx engine/training/corpus/fetchPackages.ts [--packages LIST.json]
 * Downloads 1.3 GB with the list that is there by default. Whatever is already there is kept; what is not there at the end
 * is listed. Nothing of a package is executed.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CACHE_FOLDER } from '../cacheFolder.ts';
import { isNpmArchiveOf } from './npmArchive.ts';
import { chosenList, namesOf, type Origin, type PackageList, readPackageList } from './packageList.ts';
import { missingPackages } from './unpackedPackages.ts';

const NAMES_A_CALL = 12;
const APT_SOURCES = '/etc/apt/sources.list.d/debian.sources';

function folder(...names: string[]): string {
  const path = join(CACHE_FOLDER, ...names);
  mkdirSync(path, { recursive: true });
  return path;
}

function run(command: string, args: readonly string[], cwd: string): string {
  return execFileSync(command, args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
    maxBuffer: 1 << 28,
  });
}

function inGroups(names: readonly string[], download: (group: readonly string[]) => void): void {
  for (let i = 0; i < names.length; i += NAMES_A_CALL) {
    const group = names.slice(i, i + NAMES_A_CALL);
    try {
      download(group);
    } catch {
      for (const name of group) downloadAlone(name, download);
    }
  }
}

function downloadAlone(name: string, download: (group: readonly string[]) => void): void {
  try {
    download([name]);
  } catch (error) {
    console.warn(`left out: ${name} (${String(error).split('\n')[0]})`);
  }
}

function fetchNpm(names: readonly string[]): void {
  const cwd = folder('npm');
  const present = readdirSync(cwd);
  const missing = names.filter((name) => !present.some((file) => isNpmArchiveOf(name, file)));
  inGroups(missing, (group) => run('npm', ['pack', '--silent', '--ignore-scripts', ...group], cwd));
}

function fetchDebian(names: readonly string[]): void {
  const cwd = folder('deb');
  const present = readdirSync(cwd);
  const missing = names.filter((name) => !present.some((file) => file.startsWith(`${name}_`)));
  inGroups(missing, (group) => run('apt-get', ['download', ...group], cwd));
}

/** Source packages need a `deb-src` list; it is made of the machine's own list and kept apart from the system's. */
function fetchDebianSource(names: readonly string[]): void {
  const apt = folder('apt');
  folder('apt', 'lists', 'partial');
  const list = join(apt, 'debian-src.sources');
  writeFileSync(list, readFileSync(APT_SOURCES, 'utf8').replace(/^Types: deb$/gm, 'Types: deb-src'));
  const options = [
    `Dir::Etc::sourcelist=${list}`,
    'Dir::Etc::sourceparts=-',
    `Dir::State::lists=${apt}/lists`,
  ];
  const flags = options.flatMap((option) => ['-o', option]);
  const cwd = folder('src');
  const present = readdirSync(cwd);
  // A description without its archive is what an interrupted download leaves.
  const hasArchive = (name: string) =>
    present.some((file) => file.startsWith(`${name}_`) && file.includes('.tar.'));
  const missing = names.filter((name) => !hasArchive(name));
  if (missing.length === 0) return;
  run('apt-get', [...flags, 'update'], cwd);
  inGroups(missing, (group) =>
    run('apt-get', [...flags, 'source', '--download-only', '--only-source', ...group], cwd),
  );
}

/** Unpacks into a folder that gets its final name last, so that a killed run leaves no half package. */
function unpack(target: string, partial: string, extract: (partial: string) => void): void {
  if (existsSync(target)) return;
  rmSync(partial, { recursive: true, force: true });
  try {
    extract(partial);
    renameSync(partial, target);
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    console.warn(`cannot unpack ${target}: ${String(error).split('\n')[0]}`);
  }
}

function unpackAll(): void {
  const npm = folder('npm');
  const npmTarget = folder('unpacked', 'npm');
  for (const file of readdirSync(npm)) {
    const target = join(npmTarget, file.replace(/\.tgz$/, ''));
    unpack(target, `${target}.partial`, (partial) => {
      mkdirSync(partial);
      run(
        'tar',
        ['-xzf', join(npm, file), '-C', partial, '--strip-components=1', '--no-same-permissions'],
        npm,
      );
    });
  }
  const deb = folder('deb');
  const debTarget = folder('unpacked', 'debian');
  for (const file of readdirSync(deb).filter((name) => name.endsWith('.deb'))) {
    const target = join(
      debTarget,
      file
        .replace(/_[^_]+\.deb$/, '')
        .replace('_', '@')
        .replace(/%3a/g, ':'),
    );
    unpack(target, `${target}.partial`, (partial) => run('dpkg-deb', ['-x', join(deb, file), partial], deb));
  }
  const source = folder('src');
  const sourceTarget = folder('unpacked', 'debianSource');
  for (const file of readdirSync(source).filter((name) => name.endsWith('.dsc'))) {
    const name = file.replace(/\.dsc$/, '').replace('_', '@');
    // dpkg-source copies the archives beside the folder it makes, unless they are there already.
    unpack(join(sourceTarget, name), join(source, `${name}.partial`), (partial) =>
      run('dpkg-source', ['--no-check', '--skip-patches', '-x', join(source, file), partial], source),
    );
  }
}

function listMissing(list: PackageList): void {
  for (const origin of Object.keys(list) as Origin[]) {
    const missing = missingPackages(origin, namesOf(list, origin), folder('unpacked', origin));
    if (missing.length > 0) console.warn(`missing: ${origin} ${missing.join(', ')}`);
  }
}

const list = readPackageList(chosenList().list);
fetchNpm(namesOf(list, 'npm'));
fetchDebian(namesOf(list, 'debian'));
fetchDebianSource(namesOf(list, 'debianSource'));
unpackAll();
listMissing(list);
