import assert from 'node:assert/strict';
import { test } from 'node:test';
import { benchCommand } from '../../../engine/cli/bench.ts';
import { CommandLine } from '../../../engine/cli/commandLine.ts';
import { completeCommand } from '../../../engine/cli/complete.ts';
import { doctorCommand } from '../../../engine/cli/doctor.ts';
import { evalCommand } from '../../../engine/cli/eval.ts';
import { generateCommand } from '../../../engine/cli/generate.ts';
import { indexCommand } from '../../../engine/cli/indexFolder.ts';
import { logitsCommand } from '../../../engine/cli/logits.ts';
import { tokenizeCommand } from '../../../engine/cli/tokenize.ts';
import type { SlipstreamError } from '../../../engine/errors.ts';

const commands = [
  benchCommand,
  completeCommand,
  doctorCommand,
  evalCommand,
  generateCommand,
  indexCommand,
  logitsCommand,
  tokenizeCommand,
];

const needs = (value: string) =>
  ({ DIR: 'needs a folder (DIR)', FILE: 'needs a file (FILE)' })[value] ?? `needs a value (${value})`;

test('an option without its value, or with an empty one, is told by name and what it needs, in every command', () => {
  let options = 0;
  for (const command of commands) {
    for (const [name, { value }] of Object.entries(command.options)) {
      if (value === undefined) continue;
      const empty = value === 'TEXT' ? [] : [[`--${name}`, ''], [`--${name}=`]];
      for (const args of [[`--${name}`], [`--${name}`, '--help'], ...empty]) {
        assert.throws(
          () => new CommandLine(command, args),
          ({ code, message }: SlipstreamError) => {
            assert.equal(code, 'usage');
            assert.ok(message.startsWith(`--${name}`) && message.includes(needs(value)), message);
            assert.doesNotMatch(message, /\n/);
            return true;
          },
          `${command.name} ${args.join(' ')}`,
        );
        options++;
      }
    }
  }
  assert.ok(options > 100);
});

test('a text may be empty', () => {
  assert.equal(new CommandLine(generateCommand, ['--prompt', '']).text('prompt'), '');
});

test('an empty argument is refused, and one that begins with a dash is taken after --', () => {
  for (const command of commands.filter(({ argument }) => argument !== undefined)) {
    assert.throws(() => new CommandLine(command, ['']), {
      code: 'usage',
      message: /is empty: it needs a folder/,
    });
    assert.throws(() => new CommandLine(command, ['-odd']), {
      code: 'usage',
      message: /'-o'; a DIR that begins with a dash is given last, after --$/,
    });
    assert.equal(new CommandLine(command, ['--', '-odd']).argument(), '-odd');
  }
});

test('a value may begin with a dash', () => {
  const line = new CommandLine(completeCommand, ['--workspace=-odd', '--file=--help']);
  assert.deepEqual([line.text('workspace'), line.text('file')], ['-odd', '--help']);
});

test('an option given twice, also by its other name, is refused', () => {
  const twice = (...args: string[]) => new CommandLine(completeCommand, args);
  for (const args of [
    ['--line', '31', '--line', '1'],
    ['--line=31', '--line', '31'],
    ['--json', '--json'],
  ]) {
    assert.throws(() => twice(...args), { code: 'usage', message: /^--(line|json) is given twice; / });
  }
  assert.throws(() => twice('--model', 'a', '--model-path', 'a'), {
    code: 'usage',
    message: /^--model and --model-path are the same option; /,
  });
  assert.equal(twice('--line', '31', '--column', '31').text('line'), '31');
});
