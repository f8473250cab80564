/**
 * `npm start`: sets everything up, shows one suggestion of the embedded model in the terminal, then opens VS
 * Code with the extension on a copy of the sample workspace. `npm start -- --no-editor` ends after the
 * suggestion.
 */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { openEditor } from './editor.mjs';
import { printSampleCompletion } from './sampleCompletion.mjs';
import { main, root, SetupError, setUp } from './setup.mjs';

function parseOptions() {
  try {
    return parseArgs({ options: { 'no-editor': { type: 'boolean', default: false } } }).values;
  } catch (error) {
    throw new SetupError(`${error.message}\nUsage: npm start [-- --no-editor]`);
  }
}

/** A copy, so that trying things out leaves the repository as it is. */
function copySampleWorkspace() {
  const folder = join(mkdtempSync(join(tmpdir(), 'slipstream-')), 'harbour');
  cpSync(join(root, 'test', 'fixtures', 'sample-workspace'), folder, { recursive: true });
  return folder;
}

await main(async () => {
  const options = parseOptions();
  await setUp();
  const workspace = copySampleWorkspace();
  await printSampleCompletion(workspace);
  // An editor may outlive this process, so its copy stays.
  if (options['no-editor']) rmSync(dirname(workspace), { recursive: true });
  else await openEditor(workspace);
});
