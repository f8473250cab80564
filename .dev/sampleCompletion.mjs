/** One suggestion by the embedded model on the sample workspace, through the built command line. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root, SetupError } from './setup.mjs';

/** The unfinished function of the sample; the cursor stands at the end of the marked line. */
const place = { file: 'src/bookings.ts', marker: /throw new Http$/ };

const paint = (code, text) => (process.stdout.isTTY ? `\x1b[${code}m${text}\x1b[0m` : text);

function findPlace(workspace) {
  const file = join(workspace, place.file);
  const lines = readFileSync(file, 'utf8').split('\n');
  const index = lines.findIndex((line) => place.marker.test(line));
  const around = { above: lines.slice(index - 3, index + 1), below: lines.slice(index + 1, index + 3) };
  return { file, line: index + 1, column: lines[index].length + 1, ...around };
}

async function complete(workspace, { file, line, column }) {
  const args = [
    'complete',
    '--file',
    file,
    '--line',
    line,
    '--column',
    column,
    '--workspace',
    workspace,
    '--json',
  ];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, ['dist/cli.js', ...args.map(String)], {
      cwd: root,
    });
    return JSON.parse(stdout);
  } catch (error) {
    throw new SetupError(`The sample completion failed: ${error.stderr || error.message}`);
  }
}

/** Prints the code around the cursor with the suggestion in it, and what speculation did for it. */
export async function printSampleCompletion(workspace) {
  console.log('Asking the embedded model for a suggestion (the first run compiles the model) ...\n');
  const at = findPlace(workspace);
  const { text, algorithm, metrics } = await complete(workspace, at);
  console.log(paint(2, `${place.file}:${at.line}`));
  console.log(`${at.above.join('\n')}${paint(36, text)}\n${at.below.join('\n')}`);
  console.log(
    [
      '',
      `${metrics.completion_tokens} tokens at ${metrics.tokens_per_s.toFixed(0)} tokens/s, the first after ${metrics.ttft_ms.toFixed(0)} ms`,
      `drafts (${algorithm}): ${metrics.num_drafts} with ${metrics.num_draft_tokens} tokens, ${metrics.num_accepted_tokens} accepted; ` +
        `mean acceptance length ${metrics.mean_acceptance_length.toFixed(2)}`,
      '',
    ].join('\n'),
  );
}
