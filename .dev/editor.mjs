/** Opens VS Code with the extension: the desktop one where there is one, otherwise VS Code in the browser. */
import { existsSync } from 'node:fs';
import { findOnPath, root, runProgram, SetupError } from './setup.mjs';

const macOsCode = '/Applications/Visual Studio Code.app/Contents/Resources/app/bin/code';

/**
 * The command line of a desktop VS Code. Not where it could not show a window, and not inside a remote
 * session, whose `code` cannot load an extension from a folder.
 */
function desktopCode() {
  const { DISPLAY, WAYLAND_DISPLAY, VSCODE_IPC_HOOK_CLI } = process.env;
  if (VSCODE_IPC_HOOK_CLI) return undefined;
  if (process.platform === 'linux' && !DISPLAY && !WAYLAND_DISPLAY) return undefined;
  if (process.platform === 'darwin' && existsSync(macOsCode)) return macOsCode;
  return findOnPath('code');
}

async function openDesktop(code, workspace) {
  console.log(`Opening ${code} ...`);
  const args = [`--extensionDevelopmentPath=${root}`, '--new-window', workspace];
  const exit = await runProgram(code, args);
  if (exit !== 0) throw new SetupError(`${code} ended with ${exit}.`);
}

export async function openEditor(workspace) {
  const code = desktopCode();
  if (code) await openDesktop(code, workspace);
  else await openInBrowser(workspace);
}

async function openInBrowser(workspace) {
  const exit = await runProgram(process.execPath, ['--import', 'tsx', '.dev/browserEditor.ts', workspace]);
  if (exit !== 0) throw new SetupError(`VS Code in the browser ended with ${exit}; its message is above.`);
}
