const VERSION_AND_ENDING = /^\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?\.tgz$/;

/**
 * Whether `npm pack` gives an archive of this package such a name: scope and name joined by `-`, then the version, by
 * which alone `eslint-9.1.0.tgz` differs from `eslint-plugin-react-7.37.5.tgz`.
 */
export function isNpmArchiveOf(name: string, file: string): boolean {
  const start = `${name.replace(/^@/, '').replace('/', '-')}-`;
  return file.startsWith(start) && VERSION_AND_ENDING.test(file.slice(start.length));
}
