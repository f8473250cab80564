import { startCodeServer } from './codeServer.ts';
import { Editor } from './editor.ts';
import type { VsCode, VsCodeOptions } from './vsCode.ts';

/** VS Code in a browser. Its extension host is the one that Remote-SSH uses. */
export async function startBrowserVsCode(options: VsCodeOptions): Promise<VsCode> {
  const server = await startCodeServer(options);
  try {
    const editor = await Editor.inBrowser(server.url(options.folder), options.view);
    return {
      editor,
      kill: () => void server.process.kill('SIGKILL'),
      async end() {
        await editor.close();
        server.process.kill();
      },
    };
  } catch (error) {
    server.process.kill();
    throw error;
  }
}
