/** The built command line, started as a process. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

const commands = ['logits', 'tokenize'];
const model = 'engine/models/tiny-coder';
const scratch = mkdtempSync(join(tmpdir(), 'slipstream-cli-'));
after(() => rmSync(scratch, { recursive: true, force: true }));

function slipstream(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/cli.js', ...args], {
    encoding: 'utf8',
    env: { ...process.env, XDG_CACHE_HOME: scratch, LOCALAPPDATA: scratch },
    maxBuffer: 2 ** 26,
  });
  return { status, stdout, stderr };
}

function scratchFile(name: string, content: string | Uint8Array): string {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
}

describe('help', () => {
  test('the overview lists every command', () => {
    const { status, stdout } = slipstream('--help');
    assert.equal(status, 0);
    for (const name of commands) {
      assert.match(stdout, new RegExp(`^ {2}${name} `, 'm'));
    }
  });

  test('every command explains its options', () => {
    for (const name of commands) {
      const { status, stdout } = slipstream(name, '--help');
      assert.equal(status, 0, name);
      assert.match(stdout, new RegExp(`^Usage: slipstream ${name} `, 'm'));
      assert.match(stdout, /^ {2}--help/m);
    }
  });
});

describe('mistakes get one clear line on stderr and exit code 2', () => {
  const mistakes: readonly (readonly [name: string, args: readonly string[], message: RegExp])[] = [
    ['an unknown command', ['fly'], /unknown command "fly"/],
    ['an unknown option', ['tokenize', '--colour'], /--colour/],
    ['a missing value', ['tokenize', '--model'], /--model/],
    ['an option in place of a value', ['tokenize', '--model', '--text-file'], /--model/],
    ['a missing option', ['tokenize', '--model', model], /--text-file is missing/],
    ['an argument too many', ['tokenize', '--model', model, 'x'], /"x" is one argument too many/],
    ['a missing file', ['tokenize', '--model', model, '--text-file', 'no/such'], /no\/such: no such file/],
    ['a folder for a file', ['tokenize', '--model', model, '--text-file', scratch], /is a folder/],
    ['a missing model', ['tokenize', '--model', 'no-model', '--text-file', '.npmrc'], /no-model: no such/],
    ['a file for a model', ['tokenize', '--model', '.npmrc', '--text-file', '.npmrc'], /not a folder/],
    [
      'a folder without a model',
      ['tokenize', '--model', scratch, '--text-file', '.npmrc'],
      /tokenizer\.json/,
    ],
  ];
  for (const [name, args, message] of mistakes) {
    test(name, () => {
      const { status, stdout, stderr } = slipstream(...args);
      assert.match(stderr, message);
      assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
      assert.equal(stdout, '');
      assert.equal(status, 2);
    });
  }

  test('a binary file for a text file', () => {
    const file = scratchFile('binary', Uint8Array.of(0xff, 0xfe, 0x00));
    const { status, stderr } = slipstream('tokenize', '--model', model, '--text-file', file);
    assert.equal(status, 2);
    assert.match(stderr, /not a UTF-8 text file/);
  });
});

test('tokenize gives ids and the same text back', () => {
  const text = 'export const größe = "日本 👩‍👩‍👧";\r\n\tif (a) { <|fim_middle|> }\n';
  const file = scratchFile('text', text);
  const { status, stdout } = slipstream('tokenize', '--model-path', model, '--text-file', file, '--json');
  assert.equal(status, 0);
  const document = JSON.parse(stdout);
  assert.equal(document.text, text);
  assert.ok(document.token_ids.length > 0);
  const { vocab_size } = JSON.parse(readFileSync(join(model, 'config.json'), 'utf8'));
  assert.ok(document.token_ids.every((id: number) => Number.isInteger(id) && id >= 0 && id < vocab_size));
});

test('logits prints one row a position, the same whatever is asked beside it', () => {
  const rows = (tokenIds: string, last: string): number[][] => {
    const args = ['logits', '--model', model, '--token-ids', tokenIds, '--last', last, '--json'];
    return JSON.parse(slipstream(...args).stdout).logits;
  };
  const three = rows('701,5670,115,7628', '3');
  assert.deepEqual(
    three.map((row) => row.length),
    [8192, 8192, 8192],
  );
  const alone = rows('701,5670', '1')[0];
  assert.ok(three[0].every((logit, i) => Math.abs(logit - alone[i]) < 1e-3));
  assert.ok(three[1].some((logit, i) => Math.abs(logit - alone[i]) > 1));
});

test('a corrupt model file is a fault: one line that names it, exit code 1', () => {
  const dir = mkdtempSync(join(scratch, 'corrupt-'));
  writeFileSync(join(dir, 'tokenizer.json'), '{"model": ');
  const { status, stderr } = slipstream('tokenize', '--model', dir, '--text-file', '.npmrc');
  assert.equal(status, 1);
  assert.match(stderr, /tokenizer\.json/);
  assert.equal(stderr.trimEnd().split('\n').length, 1, stderr);
});
