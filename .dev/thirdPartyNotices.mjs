/** The licences of what others wrote and dist/ or the package holds, as their licences ask for. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** All under the MIT licence, and without a file of it where npm puts them. */
const copyrights = {
  'onnxruntime-node': ['Copyright (c) 2018 - present Microsoft Corporation'],
  'onnxruntime-common': ['Copyright (c) 2018 - present Microsoft Corporation'],
  'tree-sitter-bash': ['Copyright (c) 2017 Max Brunsfeld'],
  'tree-sitter-c-sharp': [
    'Copyright (c) 2014-2023 Max Brunsfeld, Damien Guard, Amaan Qureshi, and contributors.',
  ],
  'tree-sitter-cpp': ['Copyright (c) 2014 Max Brunsfeld'],
  'tree-sitter-css': ['Copyright (c) 2018 Max Brunsfeld'],
  'tree-sitter-go': ['Copyright (c) 2014 Max Brunsfeld'],
  'tree-sitter-java': ['Copyright (c) 2017 Ayman Nadeem'],
  'tree-sitter-javascript': ['Copyright (c) 2014 Max Brunsfeld'],
  'tree-sitter-php': [
    'Copyright (c) 2017 Josh Vera, GitHub',
    'Copyright (c) 2019 Max Brunsfeld, Amaan Qureshi, Christian Frøystad, Caleb White',
  ],
  'tree-sitter-python': ['Copyright (c) 2016 Max Brunsfeld'],
  'tree-sitter-ruby': ['Copyright (c) 2016 Rob Rix'],
  'tree-sitter-rust': ['Copyright (c) 2017 Maxim Sokolov'],
  'tree-sitter-typescript': ['Copyright (c) 2017 Max Brunsfeld'],
};
/** Grammars that this package holds compiled, without a word of whose they are. */
const grammarsPackage = '@vscode/tree-sitter-wasm';

/**
 * @param files what was bundled or copied, as paths from the repository's root; what is not in node_modules is ours
 * @throws Error when a package has no licence that is known
 */
export function thirdPartyNotices(files) {
  const packages = new Set(files.flatMap((file) => packageOf(file) ?? []));
  if (packages.has(grammarsPackage)) {
    for (const name of Object.keys(copyrights)) if (name.startsWith('tree-sitter-')) packages.add(name);
  }
  const notices = [...packages].sort().map((name) => `${name}\n\n${licenceOf(name)}`);
  return `Slipstream holds software of others, under these licences.\n\n${notices.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

/** The innermost package of a path; undefined for our own files. */
function packageOf(file) {
  return /.*(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file.replaceAll('\\', '/'))?.[1];
}

function licenceOf(name) {
  if (copyrights[name]) return [...copyrights[name], '', mitTerms()].join('\n');
  const folder = join('node_modules', name);
  const texts = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|thirdpartynotices)/i.test(file));
  if (texts.length === 0)
    throw new Error(`${name} has no licence: add its copyright to ${import.meta.filename}`);
  return texts.map((file) => readFileSync(join(folder, file), 'utf8').trim()).join('\n\n');
}

/** From our own licence, which is the same. */
function mitTerms() {
  const text = readFileSync('LICENSE', 'utf8');
  return `MIT License\n\n${text.slice(text.indexOf('Permission is hereby granted')).trim()}`;
}
