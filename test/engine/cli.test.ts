/** The built command line, started as a process. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';

const commands = ['complete', 'generate', 'logits', 'tokenize', 'index', 'eval', 'bench', 'doctor'];
const sample = 'test/fixtures/sample-workspace';
const bookings = `${sample}/src/bookings.ts`;
const model = 'engine/models/tiny-coder';
const scratch = mkdtempSync(join(tmpdir(), 'slipstream-cli-'));
const vault = join(scratch, 'secrets');
mkdirSync(vault);
after(() => rmSync(scratch, { recursive: true, force: true }));

function slipstream(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['dist/cli.js', ...args], {
    encoding: 'utf8',
    env: { ...process.env, XDG_CACHE_HOME: scratch, LOCALAPPDATA: scratch },
    maxBuffer: 2 ** 26,
  });
  return { status, stdout, stderr };
}

function json(...args: string[]) {
  const { status, stdout, stderr } = slipstream(...args, '--json');
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

function scratchFile(name: string, content: string | Uint8Array): string {
  const path = join(scratch, name);
  writeFileSync(path, content);
  return path;
}

/** The place after the last occurrence of a text, 1-based. */
function lastPlaceOf(file: string, text: string): { line: string; column: string } {
  const content = readFileSync(file, 'utf8');
  const before = content.slice(0, content.lastIndexOf(text) + text.length).split('\n');
  return { line: String(before.length), column: String(before.at(-1)!.length + 1) };
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
      assert.equal(slipstream(name, '-h').stdout, stdout);
      assert.equal(slipstream('help', name).stdout, stdout);
    }
  });

  test("the version is the package's", () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    assert.deepEqual(slipstream('--version'), { status: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('mistakes get one clear line on stderr and exit code 2', () => {
  const begin = ['--file', bookings, '--line', '1', '--column', '1'];
  const begins = ['--model', model, '--prompt', 'a', '--max-new-tokens', '1'];
  const mistakes: readonly (readonly [name: string, args: readonly string[], message: RegExp])[] = [
    ['an unknown command', ['fly'], /unknown command "fly"/],
    ['help on an unknown command', ['help', 'fly'], /unknown command "fly"/],
    ['an unknown option', ['tokenize', '--colour'], /--colour/],
    ['a missing value', ['tokenize', '--model'], /--model/],
    ['an option in place of a value', ['tokenize', '--model', '--text-file'], /--model/],
    ['a missing option', ['tokenize', '--model', model], /--text-file is missing/],
    ['an argument too many', ['tokenize', '--model', model, 'x'], /"x" is one argument too many/],
    ['a seed for nothing', ['complete', ...begin, '--seed', '3'], /--seed: .*--temperature or --n/],
    ['cuts without sampling', ['generate', ...begins, '--top-p', '0.9'], /--top-p: .*--temperature/],
    ['an impossible cut', ['generate', ...begins, '--min-p', '1.5'], /--min-p: "1.5" is not a number/],
    ['no temperature', ['generate', ...begins, '--temperature', 'hot'], /--temperature: "hot"/],
    [
      'a file of secrets',
      ['complete', '--file', '.npmrc', '--line', '1', '--column', '1'],
      /\.npmrc is not completed: .*secrets/,
    ],
    [
      'a file of secrets below the workspace',
      ['complete', '--file', join(vault, '.env'), '--line', '1', '--column', '1', '--workspace', vault],
      /\.env is not completed: .*secrets/,
    ],
    [
      'a file in a folder of secrets',
      ['complete', '--file', join(vault, 'app.ts'), '--line', '1', '--column', '1'],
      /app\.ts is not completed: .*secrets/,
    ],
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

  test('a device for a text file', { skip: process.platform === 'win32' && 'no such device' }, () => {
    const { status, stderr } = slipstream('tokenize', '--model', model, '--text-file', '/dev/zero');
    assert.equal(status, 2);
    assert.match(stderr, /not a regular file/);
  });

  test('a binary file for a text file', () => {
    const file = scratchFile('binary', Uint8Array.of(0xff, 0xfe, 0x00));
    const { status, stderr } = slipstream('tokenize', '--model', model, '--text-file', file);
    assert.equal(status, 2);
    assert.match(stderr, /not a UTF-8 text file/);
  });
});

const fullDisk = existsSync('/dev/full') ? false : 'there is no disk that is always full';

describe('streams that cannot be written to', { skip: fullDisk }, () => {
  /** @param stdio which of stdout and stderr is full */
  function withFull(stdio: 'stdout' | 'stderr', ...args: string[]) {
    const full = openSync('/dev/full', 'w');
    try {
      return spawnSync(process.execPath, ['dist/cli.js', ...args], {
        encoding: 'utf8',
        stdio: ['ignore', stdio === 'stdout' ? full : 'pipe', stdio === 'stderr' ? full : 'pipe'],
      });
    } finally {
      closeSync(full);
    }
  }

  test('a result that cannot be written is a fault of one line', () => {
    const { status, stderr } = withFull('stdout', '--help');
    assert.match(stderr, /^slipstream: the output cannot be written: the disk is full; [^\n]*\n$/);
    assert.equal(status, 1);
  });

  test('a note that cannot be written changes neither the result nor the exit code', () => {
    const args = ['generate', '--model', model, '--prompt', 'const a', '--max-new-tokens', '4'];
    const { status, stdout } = withFull('stderr', ...args, '--cache-dir', scratch);
    assert.notEqual(stdout, '');
    assert.equal(status, 0);
    assert.equal(withFull('stderr', 'fly').status, 2);
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

test('columns count as in the editor: without a byte order mark', () => {
  const text = 'const total = price *';
  const at = (file: string, column: number) =>
    slipstream('complete', '--file', file, '--line', '1', '--column', `${column}`, '--json');
  const plain = at(scratchFile('plain.ts', text), text.length + 1);
  const file = scratchFile('marked.ts', `\ufeff${text}`);
  assert.equal(plain.status, 0, plain.stderr);
  assert.deepEqual(
    JSON.parse(at(file, text.length + 1).stdout).token_ids,
    JSON.parse(plain.stdout).token_ids,
  );
  const beyond = at(file, text.length + 2);
  assert.equal(beyond.status, 2);
  assert.match(beyond.stderr, /line 1 ends at column 22/);
});

test('a column within a character is refused', () => {
  const file = scratchFile('emoji.ts', 'const a = "🦙";');
  const at = (column: number) =>
    slipstream('complete', '--file', file, '--line', '1', '--column', `${column}`, '--json');
  assert.equal(at(12).status, 0);
  const within = at(13);
  assert.equal(within.status, 2);
  assert.match(within.stderr, /--column: 13 is within a character of line 1/);
});

test('a workspace is completed in wherever it lies', () => {
  writeFileSync(join(vault, 'app.ts'), 'const a = 1;');
  const place = ['--file', join(vault, 'app.ts'), '--line', '1', '--column', '1', '--max-new-tokens', '1'];
  const { status, stderr } = slipstream('complete', ...place, '--workspace', vault);
  assert.equal(status, 0, stderr);
});

test('generate writes the same tokens with and without drafts', () => {
  const prompt = 'const a = [1, 2, 3, 4, 5, 6];\nconst b = [1, 2, 3, 4, 5, 6];\nconst c = [1, 2,';
  const generate = (algorithm: string) =>
    json(
      ...['generate', '--model', model, '--prompt', prompt, '--max-new-tokens', '24', '--ignore-eos'],
      ...['--speculative-algorithm', algorithm],
    );
  const plain = generate('none');
  assert.equal(plain.algorithm, 'NONE');
  assert.equal(plain.token_ids.length, 24);
  assert.equal(plain.metrics.completion_tokens, 24);
  assert.equal(plain.metrics.num_drafts, 0);
  assert.equal(plain.metrics.mean_acceptance_length, 1);
  for (const algorithm of ['NGRAM', 'auto']) {
    const { text, token_ids } = generate(algorithm);
    assert.deepEqual({ text, token_ids }, { text: plain.text, token_ids: plain.token_ids });
  }
  const fixed = json(
    ...['generate', '--model', model, '--prompt', prompt, '--max-new-tokens', '24', '--ignore-eos'],
    ...['--speculative-algorithm', 'NGRAM', '--speculative-num-draft-tokens', '4'],
  );
  assert.deepEqual(fixed.token_ids, plain.token_ids);
  const { num_drafts, num_accepted_tokens, num_draft_tokens, mean_acceptance_length } = fixed.metrics;
  assert.ok(num_drafts > 0 && num_draft_tokens <= 4 * num_drafts);
  assert.equal(mean_acceptance_length, 1 + num_accepted_tokens / num_drafts);
});

test('Medusa heads draft a published tree when told to', () => {
  const prompt = 'export function add(a: number, b: number) {';
  const generate = (...options: string[]) =>
    json('generate', '--model', model, '--prompt', prompt, '--max-new-tokens', '24', ...options);
  const plain = generate('--speculative-algorithm', 'none');
  const medusa = ['--speculative-algorithm', 'medusa', '--speculative-num-draft-tokens', '64'];
  const { token_ids, metrics } = generate(...medusa, '--speculative-medusa-tree', 'vicuna_7b_stage2');
  assert.deepEqual(token_ids, plain.token_ids);
  // Of its 63 nodes 56 are at most as deep as there are heads; where two tokens are left to write, the first level is enough.
  const { num_drafts, num_draft_tokens } = metrics;
  assert.ok(
    num_drafts > 1 && num_draft_tokens > 56 * (num_drafts - 1) && num_draft_tokens <= 56 * num_drafts,
  );
});

test('docs/command-line.md names every field that is printed', () => {
  const names = new Set(readFileSync('docs/command-line.md', 'utf8').match(/(?<=`)[a-z_]+(?=`)/g));
  const text = scratchFile('two-words.txt', 'const a');
  const at = ['--file', bookings, '--line', '31', '--column', '19', '--n', '2', '--show-prompt'];
  const documents = {
    complete: json('complete', ...at, '--max-new-tokens', '4', '--workspace', sample),
    generate: json('generate', '--model', model, '--prompt', 'const', '--max-new-tokens', '2'),
    logits: json('logits', '--model', model, '--token-ids', '1', '--last', '1'),
    tokenize: json('tokenize', '--model', model, '--text-file', text),
    index: json('index', sample),
    doctor: json('doctor', '--device', 'cpu'),
  };
  const unnamed = Object.entries(documents).flatMap(([command, document]) =>
    [...fields(document)].filter((field) => !names.has(field)).map((field) => `${command}: ${field}`),
  );
  assert.deepEqual(unnamed, []);
});

/** Names of all properties, but not of those that are data: what a count is by. */
function* fields(value: unknown): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value)) {
    if (!Array.isArray(value)) yield name;
    if (!/_per_(source|file)$/.test(name)) yield* fields(part);
  }
}

test('a processor that stands in for a graphics processor is told', () => {
  const prompted = ['--model', model, '--prompt', 'const a', '--max-new-tokens', '1'];
  for (const command of [
    ['generate', ...prompted],
    ['complete', '--file', bookings, '--line', '1', '--column', '1', '--max-new-tokens', '1'],
  ]) {
    const { status, stdout, stderr } = slipstream(...command, '--device', 'webgpu', '--json');
    assert.equal(status, 0, stderr);
    const { device, device_note } = JSON.parse(stdout);
    if (device === 'webgpu') assert.equal(device_note, undefined);
    else assert.ok(device === 'cpu' && device_note !== '' && stderr.includes(device_note), stderr);
    assert.deepEqual(
      Object.keys(json(...command, '--device', 'cpu')).filter((name) => name.startsWith('device')),
      ['device'],
    );
  }
});

test('generate samples the same text again with the same seed, with and without drafts', () => {
  const generate = (seed: string, algorithm: string) =>
    json(
      ...['generate', '--model', model, '--prompt', 'const a = [1, 2, 3, 4];\nconst b = [1,'],
      ...['--max-new-tokens', '24', '--ignore-eos', '--temperature', '0.7', '--top-k', '40', '--top-p', '.9'],
      ...['--min-p', '1e-3', '--seed', seed, '--speculative-algorithm', algorithm],
    );
  const plain = generate('3', 'none');
  const drafted = generate('3', 'ngram');
  assert.deepEqual(drafted.token_ids, plain.token_ids);
  assert.ok(drafted.metrics.num_draft_tokens > 0);
  assert.notDeepEqual(generate('4', 'none').token_ids, plain.token_ids);
});

describe('complete', () => {
  const place = lastPlaceOf(bookings, 'throw new Http');
  const at = ['--file', bookings, '--line', place.line, '--column', place.column, '--cache-dir', scratch];

  test('suggests the same with and without drafts, and says where accepted drafts came from', () => {
    const complete = (algorithm: string) =>
      json('complete', ...at, '--workspace', sample, '--speculative-algorithm', algorithm);
    const [plain, drafted] = ['NONE', 'NGRAM'].map(complete);
    assert.notEqual(plain.text, '');
    assert.deepEqual([drafted.text, drafted.token_ids], [plain.text, plain.token_ids]);
    assert.equal(plain.metrics.num_draft_tokens, 0);
    const { num_accepted_tokens, num_accepted_tokens_per_source } = drafted.metrics;
    const perSource: number[] = Object.values(num_accepted_tokens_per_source);
    assert.ok(num_accepted_tokens > 0);
    assert.equal(
      perSource.reduce((sum, count) => sum + count, 0),
      num_accepted_tokens,
    );
    assert.deepEqual(
      Object.keys(drafted.metrics).filter((name) => !/^[a-z_]+$/.test(name)),
      [],
    );
  });

  test('shows the prompt on request, the text before the cursor in it', () => {
    const { prompt } = json('complete', ...at, '--show-prompt');
    assert.match(prompt, /if \(!removed\) \{\n {4}throw new Http/);
    assert.match(prompt, /<\|fim_middle\|>$/);
  });

  test('prints the suggestion alone on stdout', () => {
    const { status, stdout, stderr } = slipstream('complete', ...at);
    assert.equal(status, 0);
    assert.equal(stdout.trimEnd(), json('complete', ...at).text.trimEnd());
    assert.match(stderr, /tokens\/s/);
  });

  test('suggests several texts, all different and from one prompt, the most probable one first', () => {
    // Nobody can be sure what is imported here: where the model is sure, all samples are one text.
    const file = scratchFile('imports.ts', `${readFileSync(bookings, 'utf8')}\nimport { `);
    const { line, column } = lastPlaceOf(file, 'import { ');
    const open = ['--file', file, '--line', line, '--column', column, '--cache-dir', scratch];
    const first = json('complete', ...open);
    const several = json('complete', ...open, '--n', '4');
    const texts = [several, ...several.alternatives].map((suggestion) => suggestion.text);
    assert.equal(texts[0], first.text);
    assert.equal(new Set(texts).size, 4);
    for (const { metrics } of several.alternatives) assert.equal(metrics.prefilled_tokens, 1);
    assert.deepEqual(
      json('complete', ...open, '--n', '4', '--speculative-algorithm', 'none').alternatives.map(
        (suggestion: { text: string }) => suggestion.text,
      ),
      texts.slice(1),
      'one seed, the same texts, with drafts and without',
    );
  });

  test('takes an empty file, and one with Windows line ends', () => {
    const empty = scratchFile('empty.ts', '');
    assert.equal(typeof json('complete', '--file', empty, '--line', '1', '--column', '1').text, 'string');
    const windows = scratchFile('windows.ts', 'const a = 1;\r\nconst b = ');
    const { text } = json('complete', '--file', windows, '--line', '2', '--column', '11');
    assert.doesNotMatch(text, /[^\r]\n/);
  });
});

test('index counts files and tokens, and finds the same again from what it saved', () => {
  const first = json('index', sample, '--cache-dir', scratch);
  const again = json('index', sample, '--cache-dir', scratch);
  assert.ok(first.files >= 8 && first.tokens > 1000, JSON.stringify(first));
  assert.deepEqual([again.files, again.tokens], [first.files, first.tokens]);
  assert.ok(again.reopen_ms > 0);
});

test('an index that cannot be saved is told once, with the reason', () => {
  const cache = join(scratch, 'unsaved');
  mkdirSync(cache);
  writeFileSync(join(cache, 'ngrams'), 'no folder');
  const { status, stdout, stderr } = slipstream('index', sample, '--cache-dir', cache);
  assert.equal(status, 0, stderr);
  assert.match(
    stderr,
    /^The workspace index: \S+\.idx could not be saved: it, or what is above it, is not a folder; choose another place\.\n$/,
  );
  assert.match(stdout, /not saved/);
  assert.doesNotMatch(stdout, /from disk/);
  assert.equal(json('index', sample, '--cache-dir', cache).reopen_ms, null);
});

test('doctor says what will run and measures it', () => {
  const {
    machine,
    onnxruntime,
    webgpu,
    model: used,
    cost_table,
    reasons,
  } = json('doctor', '--device', 'cpu');
  assert.equal(machine.node, process.versions.node);
  assert.equal(onnxruntime.version, '1.30.0');
  assert.equal(typeof webgpu.usable, 'boolean');
  assert.deepEqual([used.name, used.device], ['tiny-coder', 'cpu']);
  assert.equal(cost_table.ms[0].length, cost_table.node_counts.length);
  assert.ok(cost_table.ms.flat().every((ms: number) => ms > 0));
  assert.ok(reasons.length >= 2);
});

test('doctor tells where things are kept, why something cannot draft, and only devices that can be chosen', () => {
  const headless = join(scratch, 'headless');
  cpSync(model, headless, { recursive: true, filter: (path) => !path.endsWith('heads') });
  const asked = ['doctor', '--model', headless, '--device', 'cpu'];
  const { cache_dir, algorithms } = json(...asked);
  const { status, stdout } = slipstream(...asked);
  assert.equal(status, 0);
  const lines = stdout.split('\n').map((line) => line.trimEnd());
  assert.equal(cache_dir, join(scratch, 'slipstream'));
  assert.ok(lines.includes(`Cache      ${cache_dir}`), stdout);
  const lacking = algorithms.filter(({ missing }: { missing?: string }) => missing !== undefined);
  assert.ok(lacking.length > 0);
  for (const { algorithm, missing } of lacking) {
    assert.ok(lines.includes(`           not ${algorithm}: ${missing}`), stdout);
  }
  assert.match(stdout, /^Runtime +onnxruntime \S+ \(cpu(, webgpu)?\)$/m);
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
