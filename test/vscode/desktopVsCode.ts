import { spawnSync } from 'node:child_process';
import { downloadAndUnzipVSCode, resolveCliArgsFromVSCodeExecutablePath } from '@vscode/test-electron';
import { _electron } from 'playwright-core';
import { Editor } from './editor.ts';
import { userData, type VsCode, type VsCodeOptions } from './vsCode.ts';

/** The path of a desktop VS Code's executable, or `download`; absent where there is none. */
export const desktopVsCode = process.env.SLIPSTREAM_VSCODE;

/** Desktop VS Code. */
export async function startDesktopVsCode(options: VsCodeOptions): Promise<VsCode> {
  const executablePath =
    desktopVsCode && desktopVsCode !== 'download' ? desktopVsCode : await downloadAndUnzipVSCode();
  const dirs = userData(options);
  installExtensions(executablePath, dirs, options.extensions);
  const app = await _electron.launch({
    executablePath,
    args: [
      options.folder,
      ...dirs,
      ...['--log', options.logLevel ?? 'debug'],
      ...['--disable-workspace-trust', '--skip-welcome', '--skip-release-notes', '--disable-updates'],
    ],
  });
  const page = await app.firstWindow();
  const editor = await Editor.on(page, () => app.close());
  return { editor, kill: () => void app.process().kill('SIGKILL'), end: () => editor.close() };
}

function installExtensions(
  executablePath: string,
  dirs: readonly string[],
  extensions: readonly string[],
): void {
  const [cli, ...args] = resolveCliArgsFromVSCodeExecutablePath(executablePath, {
    reuseMachineInstall: true,
  });
  for (const vsix of extensions) {
    const { status, stderr } = spawnSync(cli, [...args, ...dirs, '--install-extension', vsix], {
      encoding: 'utf8',
      shell: process.platform === 'win32',
    });
    if (status !== 0) throw new Error(`VS Code did not install ${vsix}: ${stderr}`);
  }
}
