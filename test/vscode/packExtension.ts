import { createVSIX } from '@vscode/vsce';

/** Packs the built extension as users get it. */
export async function packExtension(packagePath: string): Promise<string> {
  await createVSIX({ packagePath, allowMissingRepository: true, rewriteRelativeLinks: false });
  return packagePath;
}
