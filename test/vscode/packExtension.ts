import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const run = promisify(execFile);
const maxBuffer = 2 ** 26;

/** Packages this repository's extension for this platform. @returns the file, which is `vsix` */
export async function packExtension(vsix: string): Promise<string> {
  await run(process.execPath, ['.dev/package.mjs', '--out', vsix], { maxBuffer });
  return vsix;
}

/** Packages an extension that needs no build. @returns the file, which is `vsix` */
export async function packTestExtension(folder: string, vsix: string): Promise<string> {
  const args = [
    'package',
    '--no-dependencies',
    '--allow-missing-repository',
    '--skip-license',
    '--out',
    vsix,
  ];
  await run(process.execPath, [`${process.cwd()}/node_modules/@vscode/vsce/vsce`, ...args], {
    cwd: folder,
    maxBuffer,
  });
  return vsix;
}
