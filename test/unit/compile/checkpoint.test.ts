import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { openCheckpoint } from '../../../engine/compile/checkpoint.ts';
import { readSafetensorsHeader } from '../../../engine/compile/safetensors.ts';
import { readRange } from '../../../engine/compile/storedTensor.ts';
import { readTorchTensors } from '../../../engine/compile/torchPickle.ts';
import { embeddedModelDir } from '../../../engine/embeddedModel.ts';
import { type ErrorCode, SlipstreamError } from '../../../engine/errors.ts';
import { goldenDir, goldenNames } from '../../golden.ts';
import { makePipe, withPipes } from '../../namedPipe.ts';
import { Random } from '../../random.ts';
import {
  configOf,
  randomTensors,
  safetensors,
  tinyShape,
  withHeader,
  writeRandomCheckpoint,
} from '../../randomCheckpoint.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';

const folder = temporaryFolder();

function newCheckpoint(): string {
  return writeRandomCheckpoint(mkdtempSync(join(folder, 'checkpoint-')), tinyShape, 1);
}

function newShardedCheckpoint(): string {
  const dir = mkdtempSync(join(folder, 'sharded-'));
  cpSync(goldenDir('qwen2_untied_sharded'), dir, { recursive: true });
  return dir;
}

function writeJson(dir: string, file: string, value: unknown): void {
  writeFileSync(join(dir, file), JSON.stringify(value));
}

async function assertRefused(dir: string, code: ErrorCode, ...words: (string | RegExp)[]): Promise<void> {
  await assert.rejects(openCheckpoint(dir), (error) => {
    assert.ok(error instanceof SlipstreamError, `${error}`);
    assert.equal(error.code, code, error.message);
    assert.ok(error.message.includes(dir), `${error.message} does not name ${dir}`);
    for (const word of words) assert.match(error.message, new RegExp(word));
    return true;
  });
}

test('checkpoints of every kind open', async () => {
  for (const dir of [newCheckpoint(), embeddedModelDir, ...goldenNames.map(goldenDir)])
    await openCheckpoint(dir);
});

test('a file that is missing, empty or a folder is named', async () => {
  for (const file of ['config.json', 'model.safetensors']) {
    const missing = newCheckpoint();
    rmSync(join(missing, file));
    await assertRefused(missing, 'model.notFound', file);

    const empty = newCheckpoint();
    writeFileSync(join(empty, file), '');
    await assertRefused(empty, 'model.corrupt', file);
  }
  for (const file of ['config.json', 'model.safetensors']) {
    const dir = newCheckpoint();
    rmSync(join(dir, file));
    mkdirSync(join(dir, file));
    await assertRefused(dir, 'io', file, 'not a file');
  }
  await assertRefused(join(folder, 'no such model'), 'model.notFound', 'config.json');
  await assertRefused(join(newCheckpoint(), 'config.json'), 'model.notFound', 'config.json');
});

test('a pipe in the place of a file is not waited for', withPipes, async () => {
  for (const file of ['config.json', 'generation_config.json', 'model.safetensors']) {
    const dir = newCheckpoint();
    rmSync(join(dir, file), { force: true });
    makePipe(join(dir, file));
    await assertRefused(dir, 'io', file, 'a pipe');
  }
  const pickle = join(newCheckpoint(), 'pytorch_model.bin');
  makePipe(pickle);
  await assert.rejects(readTorchTensors(pickle), { code: 'io' });
});

test('a truncated weight file is refused wherever it ends', async () => {
  const dir = newCheckpoint();
  const file = join(dir, 'model.safetensors');
  const whole = readFileSync(file);
  const dataStart = 8 + Number(whole.readBigUInt64LE());
  for (const size of [1, 7, 8, 9, 10, 11, dataStart - 1, dataStart, dataStart + 1, whole.length - 1]) {
    writeFileSync(file, whole);
    truncateSync(file, size);
    await assertRefused(dir, 'model.corrupt', 'model.safetensors');
  }
  writeFileSync(file, whole);
  await openCheckpoint(dir);
});

test('a header that is no header is refused before anything is allocated for it', async () => {
  const headers = {
    'longer than the file': Buffer.concat([Buffer.from('ffffffffffffff7f', 'hex'), Buffer.alloc(32)]),
    'longer than any number': Buffer.from('ff'.repeat(40), 'hex'),
    'no JSON': withHeader('{"a":', Buffer.alloc(8)),
    'a list': withHeader('[]', Buffer.alloc(8)),
    null: withHeader('null', Buffer.alloc(8)),
    'no UTF-8': Buffer.concat([
      withHeader('', Buffer.alloc(0)).fill(4, 0, 1),
      Buffer.from('ff'.repeat(4), 'hex'),
    ]),
  };
  for (const [name, bytes] of Object.entries(headers)) {
    const dir = newCheckpoint();
    writeFileSync(join(dir, 'model.safetensors'), bytes);
    const before = process.memoryUsage().rss;
    await assertRefused(dir, 'model.corrupt', 'model.safetensors');
    assert.ok(process.memoryUsage().rss - before < 2 ** 27, name);
  }
});

test('a tensor that is described wrongly is named', async () => {
  const good = { dtype: 'F32', shape: [2, 2], data_offsets: [0, 16] };
  const wrong: Record<string, unknown> = {
    'no dtype': { ...good, dtype: undefined },
    'a number as dtype': { ...good, dtype: 7 },
    'no shape': { ...good, shape: undefined },
    'a negative dimension': { ...good, shape: [-2, -2] },
    'half a dimension': { ...good, shape: [0.5, 8] },
    'dimensions beyond all numbers': { ...good, shape: [2 ** 52, 2 ** 52, 2 ** 52] },
    'one offset': { ...good, data_offsets: [0] },
    'offsets in reverse': { ...good, data_offsets: [16, 0] },
    'a negative offset': { ...good, data_offsets: [-16, 0] },
    'offsets behind the end': { ...good, data_offsets: [16, 32] },
    'too few bytes': { ...good, data_offsets: [0, 12] },
    nothing: null,
    'a text': 'F32',
  };
  for (const [name, tensor] of Object.entries(wrong)) {
    const file = join(folder, 'wrong.safetensors');
    writeFileSync(file, withHeader(JSON.stringify({ some_tensor: tensor }), Buffer.alloc(16)));
    await assert.rejects(
      readSafetensorsHeader(file),
      { code: 'model.corrupt', message: /wrong\.safetensors.*some_tensor/ },
      name,
    );
  }
  const file = join(folder, 'quantized.safetensors');
  writeFileSync(file, withHeader(JSON.stringify({ q: { ...good, dtype: 'F8_E4M3' } }), Buffer.alloc(16)));
  await assert.rejects(readSafetensorsHeader(file), {
    code: 'model.unsupported',
    message: /quantized.*F8_E4M3/,
  });
});

test('tensors that share bytes are refused: a small file could describe any amount of them', async () => {
  const file = join(folder, 'overlapping.safetensors');
  const tensor = (start: number) => ({ dtype: 'F32', shape: [2, 2], data_offsets: [start, start + 16] });
  const write = (header: object) => writeFileSync(file, withHeader(JSON.stringify(header), Buffer.alloc(32)));
  for (const start of [0, 4, 15]) {
    write({ second: tensor(start), first: tensor(0) });
    await assert.rejects(readSafetensorsHeader(file), {
      code: 'model.corrupt',
      message: /overlapping\.safetensors has tensors that overlap/,
    });
  }
  write({ second: tensor(16), none: { dtype: 'F32', shape: [0], data_offsets: [16, 16] }, first: tensor(0) });
  assert.equal((await readSafetensorsHeader(file)).size, 3);
});

test('a disk that cannot be read is told with the file on it', async () => {
  const read = () => Promise.reject(Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' }));
  const handle = { read } as unknown as FileHandle;
  await assert.rejects(readRange(handle, '/models/model.safetensors', { offset: 0, byteLength: 8 }), {
    code: 'io',
    message: '/models/model.safetensors: cannot be read (EIO: i/o error, read).',
  });
});

test('whatever the header says, tensors lie inside the file or the file is refused', async () => {
  const file = join(folder, 'fuzzed.safetensors');
  const tensor = fc.record({
    dtype: fc.oneof(fc.constantFrom('F32', 'F16', 'BF16', 'I64', 'BOOL', 'U4'), fc.jsonValue()),
    shape: fc.oneof(
      fc.array(fc.oneof(fc.nat(5), fc.double(), fc.maxSafeInteger()), { maxLength: 3 }),
      fc.jsonValue(),
    ),
    data_offsets: fc.oneof(fc.tuple(fc.nat(200), fc.nat(200)), fc.array(fc.double()), fc.jsonValue()),
  });
  const header = fc.oneof(
    fc.dictionary(fc.string(), fc.oneof(tensor, fc.jsonValue())).map((value) => JSON.stringify(value)),
    fc.json(),
    fc.string(),
  );
  await fc.assert(
    fc.asyncProperty(header, fc.nat(200), async (text, dataBytes) => {
      writeFileSync(file, withHeader(text, Buffer.alloc(dataBytes)));
      const size = 8 + Buffer.byteLength(text) + dataBytes;
      try {
        for (const { offset, byteLength } of (await readSafetensorsHeader(file)).values()) {
          assert.ok(offset >= 8 && offset + byteLength <= size);
        }
      } catch (error) {
        assert.ok(error instanceof SlipstreamError, `${error}`);
        assert.ok(error.message.includes('fuzzed.safetensors'));
      }
    }),
    { numRuns: 300 },
  );
});

test('flipped bytes in a whole checkpoint are refused with a code, or do not matter', async () => {
  const dir = newCheckpoint();
  const file = join(dir, 'model.safetensors');
  const whole = readFileSync(file);
  const headerEnd = 8 + Number(whole.readBigUInt64LE());
  await fc.assert(
    fc.asyncProperty(fc.nat(headerEnd - 1), fc.integer({ min: 1, max: 255 }), async (place, flip) => {
      const broken = Buffer.from(whole);
      broken[place] ^= flip;
      writeFileSync(file, broken);
      await openCheckpoint(dir).catch((error) => assert.ok(error instanceof SlipstreamError, `${error}`));
    }),
    { numRuns: 200 },
  );
});

test('a configuration that is not JSON or no object is refused', async () => {
  for (const text of ['{', '[]', 'null', '7', '"llama"', '{"model_type": NaN}', '\u0000']) {
    const dir = newCheckpoint();
    writeFileSync(join(dir, 'config.json'), text);
    await assertRefused(dir, 'model.corrupt', 'config.json');
  }
});

test('a configuration may begin with a byte order mark; where it is no JSON the parser is quoted', async () => {
  const dir = newCheckpoint();
  const file = join(dir, 'config.json');
  const config = readFileSync(file, 'utf8');
  writeFileSync(file, `\ufeff${config}`);
  assert.equal((await openCheckpoint(dir)).architecture.vocabSize, tinyShape.vocabSize);
  writeFileSync(file, config.replace('{', '{,'));
  await assertRefused(dir, 'model.corrupt', 'config.json', 'Unexpected token|Expected property name');
});

test('a number that no model can have is refused by name', async () => {
  const sizes = [
    'vocab_size',
    'hidden_size',
    'intermediate_size',
    'num_hidden_layers',
    'num_attention_heads',
  ];
  const numbers = [
    'num_key_value_heads',
    'head_dim',
    'max_position_embeddings',
    'rms_norm_eps',
    'rope_theta',
  ];
  for (const field of [...sizes, ...numbers]) {
    for (const value of [-1, 0, -0.5, '64', true, [], {}, Number.POSITIVE_INFINITY]) {
      const dir = newCheckpoint();
      const text = JSON.stringify({ ...configOf(tinyShape), [field]: value }).replace(':null', ':1e400');
      writeFileSync(join(dir, 'config.json'), text);
      await assertRefused(dir, 'model.corrupt', field);
    }
  }
  for (const field of sizes) {
    const dir = newCheckpoint();
    writeJson(dir, 'config.json', { ...configOf(tinyShape), [field]: undefined });
    await assertRefused(dir, 'model.corrupt', field, 'missing');
  }
});

test('sizes that the weights do not have are refused, however large, and nothing is allocated', async () => {
  const before = process.memoryUsage().rss;
  const huge = {
    vocab_size: 2 ** 31,
    num_hidden_layers: 2 ** 31,
    intermediate_size: 2 ** 31,
    head_dim: 1024,
  };
  for (const [field, value] of Object.entries({ ...huge, vocab_size: 97, hidden_size: 64, head_dim: 16 })) {
    const dir = newCheckpoint();
    writeJson(dir, 'config.json', { ...configOf(tinyShape), [field]: value });
    await assertRefused(dir, 'model.corrupt', 'shape|missing');
  }
  for (const [field, value] of Object.entries(huge)) {
    const dir = newCheckpoint();
    writeJson(dir, 'config.json', { ...configOf(tinyShape), [field]: value });
    await assertRefused(dir, 'model.corrupt');
  }
  assert.ok(process.memoryUsage().rss - before < 2 ** 27);
});

test('heads wider than any are refused before tables of their positions are made', async () => {
  const dir = newCheckpoint();
  writeJson(dir, 'config.json', { ...configOf(tinyShape), head_dim: 2048 });
  await assertRefused(dir, 'model.unsupported', 'head_dim 2048', '1024');
});

test('a missing tensor and one of another shape are named', async () => {
  const tensors = randomTensors(tinyShape, new Random(1));
  for (const { name } of tensors) {
    const dir = newCheckpoint();
    writeFileSync(
      join(dir, 'model.safetensors'),
      safetensors(tensors.filter((tensor) => tensor.name !== name)),
    );
    await assertRefused(dir, 'model.corrupt', name.replaceAll('.', '\\.'), 'missing');
  }
  const dir = newCheckpoint();
  const flat = tensors.map((tensor) => ({ ...tensor, shape: [tensor.data.length] }));
  writeFileSync(join(dir, 'model.safetensors'), safetensors(flat));
  await assertRefused(dir, 'model.corrupt', 'model.embed_tokens.weight', '3072', '96,32');
});

test('what the graph cannot express is refused as unsupported, by name', async () => {
  const linear = { type: 'linear', factor: 2 };
  const llama3 = {
    rope_type: 'llama3',
    factor: 8,
    low_freq_factor: 4,
    high_freq_factor: 4,
    original_max_position_embeddings: 64,
  };
  const unsupported: [Record<string, unknown>, string][] = [
    [{ model_type: 'gpt_neox' }, 'gpt_neox'],
    [{ model_type: 'constructor' }, 'constructor'],
    [{ hidden_act: 'relu' }, 'relu'],
    [{ rope_scaling: { ...linear, type: 'yarn' } }, 'yarn'],
    [{ rope_scaling: { rope_type: 'dynamic', factor: 2 } }, 'dynamic'],
    [{ rope_scaling: llama3 }, 'high_freq_factor'],
    [{ model_type: 'qwen2', use_sliding_window: true }, 'use_sliding_window'],
    [{ num_key_value_heads: 3 }, 'key-value'],
    [{ head_dim: 7 }, 'head_dim'],
  ];
  for (const [change, word] of unsupported) {
    const dir = newCheckpoint();
    writeJson(dir, 'config.json', { ...configOf(tinyShape), ...change });
    await assertRefused(dir, 'model.unsupported', 'config.json', word);
  }
  for (const factor of [0, -2, '2', null, undefined]) {
    const dir = newCheckpoint();
    writeJson(dir, 'config.json', { ...configOf(tinyShape), rope_scaling: { ...linear, factor } });
    await assertRefused(dir, 'model.corrupt', 'config.json', 'rope_scaling', 'factor');
  }
});

test('rotary positions are read from where newer checkpoints keep them', async () => {
  const dir = newCheckpoint();
  const rope = { rope_type: 'linear', factor: 4, rope_theta: 500000 };
  writeJson(dir, 'config.json', { ...configOf(tinyShape), rope_parameters: rope });
  const { architecture } = await openCheckpoint(dir);
  assert.equal(architecture.ropeTheta, 500000);
  assert.deepEqual(architecture.ropeScaling, { type: 'linear', factor: 4 });
});

test('an index of shards names files of its own folder that are there', async () => {
  const index = 'model.safetensors.index.json';
  const maps = [
    undefined,
    null,
    {},
    7,
    { a: 7 },
    { a: '../x.safetensors' },
    { a: '..' },
    { a: '.' },
    { a: '' },
    { a: '/etc/passwd' },
  ];
  for (const map of maps) {
    const dir = newShardedCheckpoint();
    writeJson(dir, index, { weight_map: map });
    await assertRefused(dir, 'model.corrupt', index);
  }
  const missing = newShardedCheckpoint();
  rmSync(join(missing, 'model-00002-of-00003.safetensors'));
  await assertRefused(missing, 'model.notFound', 'model-00002-of-00003');

  const broken = newShardedCheckpoint();
  writeFileSync(join(broken, index), '{"weight_map"');
  await assertRefused(broken, 'model.corrupt', index);

  const partial = newShardedCheckpoint();
  writeJson(partial, index, { weight_map: { a: 'model-00001-of-00003.safetensors' } });
  await assertRefused(partial, 'model.corrupt', 'missing');
});

test('end tokens come from generation_config.json, then from config.json, and are token ids', async () => {
  const dir = newCheckpoint();
  assert.deepEqual((await openCheckpoint(dir)).eosTokenIds, [0]);
  writeJson(dir, 'generation_config.json', { eos_token_id: [3, 5] });
  assert.deepEqual((await openCheckpoint(dir)).eosTokenIds, [3, 5]);
  writeJson(dir, 'generation_config.json', {});
  assert.deepEqual((await openCheckpoint(dir)).eosTokenIds, [0]);
  writeJson(dir, 'generation_config.json', { eos_token_id: 'end' });
  await assertRefused(dir, 'model.corrupt', 'generation_config.json', 'eos_token_id');
  rmSync(join(dir, 'generation_config.json'));
  writeJson(dir, 'config.json', { ...configOf(tinyShape), eos_token_id: 1.5 });
  await assertRefused(dir, 'model.corrupt', '/config.json', 'eos_token_id');
});
