import { chmodSync, cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const isWindows = process.platform === 'win32';
const odd = `-größe 名前 👩‍👩‍👧 it's 100%25 #& $(x) [a]${isWindows ? '' : '* "b" \\ \n:'}`;

/**
 * A copy of a folder below a name that shells, URLs and globs read otherwise, with links that lead in circles and to
 * nothing, and a file and a folder that may not be read (which a superuser reads all the same).
 *
 * @returns the name, which begins with a dash
 */
export function writeOddFolder(parent: string, source: string): string {
  const dir = join(parent, odd);
  cpSync(source, dir, { recursive: true });
  if (isWindows) return odd;
  symlinkSync('.', join(dir, 'self'));
  symlinkSync(join('..', '..', odd), join(dir, 'src', 'up'));
  symlinkSync('circle.ts', join(dir, 'circle.ts'));
  symlinkSync('nowhere.ts', join(dir, 'dangling.ts'));
  writeFileSync(join(dir, 'closed.ts'), 'const closed = 1;\n', { mode: 0o000 });
  mkdirSync(join(dir, 'closed'));
  chmodSync(join(dir, 'closed'), 0o000);
  return odd;
}
