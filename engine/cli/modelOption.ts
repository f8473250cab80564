import type { Option } from './command.ts';
import type { CommandLine } from './commandLine.ts';
import { requireFolder } from './files.ts';

export const modelOptions = {
  model: { value: 'DIR', help: 'Folder of a checkpoint in Hugging Face layout.' },
  'model-path': { value: 'DIR', help: '', sameAs: 'model' },
} as const satisfies Record<string, Option>;

export async function modelDir(line: CommandLine): Promise<string | undefined> {
  const dir = line.text('model');
  return dir === undefined ? undefined : requireFolder(dir);
}

export async function requiredModelDir(line: CommandLine): Promise<string> {
  return requireFolder(line.requiredText('model'));
}
