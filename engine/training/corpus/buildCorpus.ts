/**
 * Reads the unpacked packages, keeps what may be learned from and is worth it, and writes
 * `corpus/train.jsonl` and `corpus/heldOut.jsonl` to the cache folder and `corpus.lock.json` beside this folder (or beside LIST.json).
 * Run: node --max-old-space-size=8000 --import tsx engine/training/corpus/buildCorpus.ts [--packages LIST.json]
 */

import { mkdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { CACHE_FOLDER } from '../cacheFolder.ts';
import { writeWholeFile } from '../wholeFile.ts';
import { balance } from './balance.ts';
import { ContaminationCheck } from './contamination.ts';
import type { CorpusDocument } from './document.ts';
import { rejectionReason } from './filters.ts';
import { languageOf } from './languages.ts';
import { NearDuplicates } from './nearDuplicates.ts';
import { normalise } from './normalise.ts';
import { chosenList, type Origin, type Purpose, purposeOf, readPackageList } from './packageList.ts';
import { type ReadablePackage, readPackage } from './packageReader.ts';
import { scrubSecrets } from './secrets.ts';
import { unpackedPackages } from './unpackedPackages.ts';

const MAX_FILE_BYTES = 200_000;

const { list: listFile, lock: lockFile } = chosenList();
const list = readPackageList(listFile);
const refusals = new Map<string, number>();
const duplicates = new NearDuplicates();
const contamination = new ContaminationCheck();

function refuse(reason: string): void {
  refusals.set(reason, (refusals.get(reason) ?? 0) + 1);
}

interface FoundPackage {
  readonly origin: Origin;
  readonly purpose: Purpose;
  readonly content: ReadablePackage;
}

function findPackages(): FoundPackage[] {
  const found: FoundPackage[] = [];
  for (const origin of Object.keys(list) as Origin[]) {
    for (const root of unpackedPackages(join(CACHE_FOLDER, 'unpacked', origin))) {
      const content = readPackage(origin, root);
      const purpose = content && purposeOf(list, origin, content.name);
      if (content && purpose) found.push({ origin, purpose, content });
      else console.log(`refused: ${origin} ${basename(root)}`);
    }
  }
  return found;
}

/** The path as its authors know it, without the folders into which Debian installs. */
function projectPath(path: string): string {
  return path.replace(
    /^usr\/(lib\/python3[^/]*\/(dist-packages\/)?|share\/gocode\/src\/|share\/go-[^/]+\/|share\/cargo\/registry\/[^/]+\/|src\/rustc-[^/]+\/)/,
    '',
  );
}

function readDocument(found: FoundPackage, path: string): CorpusDocument | undefined {
  const { origin, content } = found;
  const language = languageOf(path)!;
  const file = join(content.root, path);
  if (statSync(file).size > MAX_FILE_BYTES) {
    refuse('size');
    return undefined;
  }
  const raw = readFileSync(file, 'utf8');
  const reason = rejectionReason(projectPath(path), language, raw);
  if (reason) {
    refuse(reason);
    return undefined;
  }
  const text = scrubSecrets(normalise(raw));
  return { package: `${origin}:${content.name}@${content.version}`, path: projectPath(path), language, text };
}

function readDocuments(packages: readonly FoundPackage[]): CorpusDocument[] {
  return packages.flatMap((found) => {
    console.log(`reading ${found.origin}:${found.content.name}, ${found.content.paths.length} files`);
    return found.content.paths.flatMap((path) => {
      const document = readDocument(found, path);
      if (!document) return [];
      if (duplicates.isDuplicate(document.text)) {
        refuse('near-duplicate');
        return [];
      }
      if (found.purpose === 'train' && contamination.isContaminated(document.text)) {
        refuse('contaminated');
        return [];
      }
      return [document];
    });
  });
}

function* jsonLines(documents: readonly CorpusDocument[]): Generator<string> {
  for (const document of documents) yield `${JSON.stringify(document)}\n`;
}

function charactersByLanguage(documents: readonly CorpusDocument[]): Record<string, number> {
  const totals: Record<string, number> = {};
  for (const { language, text } of documents) totals[language] = (totals[language] ?? 0) + text.length;
  return totals;
}

/** Every evaluation file counts, also those that the filters would leave out of a training set. */
function learnEvaluationTexts(packages: readonly FoundPackage[]): void {
  for (const { content } of packages) {
    for (const path of content.paths) {
      const file = join(content.root, path);
      if (statSync(file).size <= MAX_FILE_BYTES)
        contamination.addEvaluationText(normalise(readFileSync(file, 'utf8')));
    }
  }
}

function lockEntries(packages: readonly FoundPackage[], documents: readonly CorpusDocument[]) {
  const characters = new Map<string, number>();
  for (const { package: id, text } of documents) characters.set(id, (characters.get(id) ?? 0) + text.length);
  return packages.flatMap(({ origin, purpose, content: { name, version, licence } }) => {
    const used = characters.get(`${origin}:${name}@${version}`) ?? 0;
    return used > 0 ? [{ origin, purpose, name, version, licence, characters: used }] : [];
  });
}

/** One package a line, so that a change of the list is read as such. */
function formatLock({ packages: entries, ...totals }: { packages: readonly object[] }): string {
  const lines = entries.map((entry) => `  ${JSON.stringify(entry)}`).join(',\n');
  return `${JSON.stringify(totals, null, 2).slice(0, -2)},\n  "packages": [\n${lines}\n  ]\n}\n`;
}

const packages = findPackages();
const withPurpose = (...purposes: Purpose[]) => packages.filter(({ purpose }) => purposes.includes(purpose));
learnEvaluationTexts(withPurpose('evaluation'));
// Held-out text is read first: a near-duplicate of it in a training package is then the one that goes.
const heldOut = readDocuments(withPurpose('evaluation', 'heldOut'));
for (const document of heldOut) contamination.addEvaluationText(document.text);
const train = balance(readDocuments(withPurpose('train')));
const corpusFolder = join(CACHE_FOLDER, 'corpus');
mkdirSync(corpusFolder, { recursive: true });
writeWholeFile(join(corpusFolder, 'heldOut.jsonl'), jsonLines(heldOut));
writeWholeFile(join(corpusFolder, 'train.jsonl'), jsonLines(train));
const lock = {
  trainCharacters: charactersByLanguage(train),
  heldOutCharacters: charactersByLanguage(heldOut),
  refusedFiles: Object.fromEntries([...refusals].sort()),
  packages: lockEntries(packages, [...train, ...heldOut]),
};
writeWholeFile(fileURLToPath(lockFile), [formatLock(lock)]);
console.log(lock.trainCharacters, lock.heldOutCharacters, lock.refusedFiles);
