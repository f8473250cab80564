/**
 * Which licences may be trained on: those that ask for attribution at most. An unknown name is refused.
 * Names are SPDX identifiers and the short names of Debian's machine-readable copyright files.
 */
const PERMISSIVE = [
  /^mit(-0|-.*)?$/,
  /^(expat|x11|isc|0bsd|zlib|zlib\/libpng|libpng|libpng-2\.0|unlicense|blueoak-1\.0\.0|curl|fsful|fsfullr|fsfap|ntp|bsl-1\.0|bsl)$/,
  /^(new |modified |simplified )?bsd([- ][234][- ]clause.*|[- ]style|-like)?$/,
  /^bsd[-_ ].*$/,
  /^apache( ?software)?( licen[cs]e)?([- ,]*(version )?2(\.0)?)?( with llvm-exception)?$/,
  /^(psf|psf-2\.0|psfl|python|python-2\.0|python-2\.0\.1)$/,
  /^(cc0|cc0-1\.0|public-domain|public domain|pd|hpnd|openssl|postgresql|ncsa|tcl)$/,
];

function isPermissiveName(name: string): boolean {
  const plain = name.trim().toLowerCase().replace(/[()]/g, '').trim();
  return PERMISSIVE.some((pattern) => pattern.test(plain));
}

/** Judges `MIT OR GPL-2.0`, `Apache-2.0 AND MIT`, `MIT/Apache-2.0`: one permissive choice, all permissive parts. */
export function isPermissiveExpression(expression: string): boolean {
  const parts = expression.replace(/[()]/g, ' ').split(/\s+and\s+|,\s+/i);
  return parts.every((part) => part.split(/\s+or\s+|\//i).some(isPermissiveName));
}

interface LicenceStanza {
  readonly patterns: readonly string[];
  readonly licence: string;
}

function filesStanzas(copyright: string): LicenceStanza[] {
  const stanzas: LicenceStanza[] = [];
  for (const block of copyright.split(/\n\s*\n/)) {
    const files = /^Files:((?:.*)(?:\n[ \t].*)*)/im.exec(block)?.[1];
    const licence = /^License:[ \t]*(.*)$/im.exec(block)?.[1]?.trim();
    if (files && licence) stanzas.push({ patterns: files.trim().split(/\s+/), licence });
  }
  return stanzas;
}

function globToRegExp(glob: string): RegExp {
  const escaped = glob.replace(/^\.\//, '').replace(/[.+^${}()|[\]\\]/g, '\\$&');
  return new RegExp(`(^|/)${escaped.replace(/\*/g, '.*').replace(/\?/g, '.')}$`);
}

/** False for a file that a more specific stanza puts under a licence that is not permissive. */
type Allows = (path: string) => boolean;

/** What a Debian copyright file says of a package; `unreadable`: nothing of the package as a whole. */
export type LicenceVerdict =
  | { readonly kind: 'permissive'; readonly licence: string; readonly allows: Allows }
  | { readonly kind: 'refused' }
  | { readonly kind: 'unreadable'; readonly allows: Allows };

/**
 * Reads a Debian copyright file (DEP-5, https://dep-team.pages.debian.net/deps/dep5/).
 * The package as a whole is under the licence that the stanza `Files: *` names.
 */
export function readDebianCopyright(copyright: string): LicenceVerdict {
  const stanzas = filesStanzas(copyright).filter(
    (stanza) => !stanza.patterns.every((p) => /^(\.\/)?debian\//.test(p)),
  );
  const whole = stanzas.find((stanza) => stanza.patterns.includes('*'));
  const allows = allowedBy(stanzas.filter((stanza) => stanza !== whole));
  if (!whole) return { kind: 'unreadable', allows };
  return isPermissiveExpression(whole.licence)
    ? { kind: 'permissive', licence: whole.licence, allows }
    : { kind: 'refused' };
}

/** A pattern is tried against every tail of a path, since a binary package moves the source's folders. */
function allowedBy(stanzas: readonly LicenceStanza[]): Allows {
  const rules = stanzas.flatMap(({ patterns, licence }) =>
    patterns.map((pattern) => ({
      matches: globToRegExp(pattern),
      allowed: isPermissiveExpression(licence),
    })),
  );
  return (path) => rules.findLast((rule) => rule.matches.test(path))?.allowed ?? true;
}

const LICENCE_FIELD_VALUES: Readonly<Record<string, string>> = {
  'MIT License': 'MIT',
  'BSD License': 'BSD',
  'Apache Software License': 'Apache-2.0',
  'ISC License (ISCL)': 'ISC',
  'Python Software Foundation License': 'PSF-2.0',
};

/** The licence of a Python distribution by the trove classifiers of its METADATA; all of them have to be permissive. */
export function readPythonMetadata(metadata: string): string | undefined {
  const names = [...metadata.matchAll(/^Classifier: License :: OSI Approved :: (.+)$/gm)].map((m) =>
    m[1]!.trim(),
  );
  const licences = names.map((name) => LICENCE_FIELD_VALUES[name]);
  return licences.length > 0 && licences.every((licence) => licence !== undefined)
    ? licences.join(' AND ')
    : undefined;
}

/** The licence of a crate by its Cargo.toml, when permissive. */
export function readCargoManifest(manifest: string): string | undefined {
  const licence = /^license\s*=\s*"([^"]+)"/m.exec(manifest)?.[1];
  return licence && isPermissiveExpression(licence) ? licence : undefined;
}

/** The licence of an npm package by its manifest, when permissive. */
export function readNpmManifest(manifest: { license?: unknown }): string | undefined {
  const { license } = manifest;
  const name =
    typeof license === 'object' && license !== null && 'type' in license
      ? String(license.type)
      : String(license ?? '');
  return name && isPermissiveExpression(name) ? name : undefined;
}
