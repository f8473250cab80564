import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { readSafetensorsHeader } from '../../../engine/compile/safetensors.ts';
import { readBytes, readFloats } from '../../../engine/compile/storedTensor.ts';
import { readTorchTensors } from '../../../engine/compile/torchPickle.ts';
import { type ErrorCode, SlipstreamError } from '../../../engine/errors.ts';
import { temporaryFolder } from '../../temporaryFolder.ts';
import {
  bytesOf,
  pickle,
  pickledStateDict,
  pickledTensor,
  type TorchTensor,
  torchFile,
  zip,
} from '../../torchFile.ts';

const folder = temporaryFolder();
const fixture = (path: string) => fileURLToPath(new URL(`../../fixtures/${path}`, import.meta.url));
let written = 0;

function write(bytes: Buffer): string {
  const file = join(folder, `${written++}.bin`);
  writeFileSync(file, bytes);
  return file;
}

async function readValues(bytes: Buffer): Promise<Record<string, number[]>> {
  const values: Record<string, number[]> = {};
  for (const [name, tensor] of await readTorchTensors(write(bytes))) {
    values[name] = [...(await readFloats({ ...tensor, name }))];
  }
  return values;
}

async function assertRefused(bytes: Buffer, code: ErrorCode, words: RegExp): Promise<void> {
  const file = write(bytes);
  await assert.rejects(readTorchTensors(file), (error) => {
    assert.ok(error instanceof SlipstreamError, `${error}`);
    assert.equal(error.code, code, error.message);
    assert.ok(error.message.startsWith(file), `${error.message} does not name ${file}`);
    assert.match(error.message, words);
    return true;
  });
}

const numbers = Float32Array.from({ length: 24 }, (_, i) => i / 4 - 3);
const matrix: TorchTensor = {
  name: 'a.weight',
  storage: 'FloatStorage',
  key: '0',
  elements: 24,
  shape: [4, 6],
};
const storages = { 0: bytesOf(numbers) };

test('a file that PyTorch wrote holds what its safetensors twin holds', async () => {
  const pickled = await readTorchTensors(fixture('golden/heads/eagle3_trained/pytorch_model.bin'));
  const safe = await readSafetensorsHeader(fixture('golden/heads/eagle3_trained/model.safetensors'));
  assert.deepEqual([...pickled.keys()].sort(), [...safe.keys()].sort());
  for (const [name, expected] of safe) {
    const tensor = pickled.get(name)!;
    assert.deepEqual([tensor.type, tensor.shape], [expected.type, expected.shape]);
    assert.deepEqual(await readBytes({ ...tensor, name }), await readBytes({ ...expected, name }));
  }
});

for (const protocol of [2, 4, 5]) {
  test(`what Python pickles in protocol ${protocol} is read`, async () => {
    const list = readFileSync(fixture(`torch/protocol${protocol}.pkl`));
    const file = write(
      torchFile(list, { 0: new Uint8Array(280_000), 1: new Uint8Array(12), 2: new Uint8Array(24) }),
    );
    const tensors = await readTorchTensors(file);
    const storage = tensors.get('a.weight')!.offset;
    assert.deepEqual(
      [...tensors].map(([name, { type, shape, offset }]) => [name, type, shape, offset - storage]),
      [
        ['a.weight', 'F32', [3, 4], 0],
        ['a.view', 'F32', [2], 48],
        ['far', 'F32', [4, 1000], 264_000],
        ['p', 'F16', [2, 3], tensors.get('p')!.offset - storage],
        ['d2t', 'I64', [3], tensors.get('d2t')!.offset - storage],
      ],
    );
  });
}

test('views of one storage, parameters and dimensions of one element are read, stored and deflated', async () => {
  const list = pickledStateDict([
    matrix,
    { ...matrix, name: 'row', shape: [6], start: 12 },
    { ...matrix, name: 'parameter', shape: [2, 1, 3], stride: [3, 99, 1], start: 3, parameter: true },
    { ...matrix, name: 'scalar', shape: [], start: 23 },
    { ...matrix, name: 'empty', shape: [0, 7], stride: [7, 3] },
    { ...matrix, name: 'half', storage: 'HalfStorage', key: 'h', elements: 2, shape: [2] },
    { ...matrix, name: 'brain', storage: 'BFloat16Storage', key: 'b', elements: 2, shape: [2] },
  ]);
  const all = {
    ...storages,
    h: bytesOf(Uint16Array.of(0x3c00, 0xc000)),
    b: bytesOf(Uint16Array.of(0x3f80, 0xc000)),
  };
  for (const method of ['stored', 'deflated'] as const) {
    assert.deepEqual(await readValues(torchFile(list, all, method)), {
      'a.weight': [...numbers],
      row: [...numbers.subarray(12, 18)],
      parameter: [...numbers.subarray(3, 9)],
      scalar: [numbers[23]],
      empty: [],
      half: [1, -2],
      brain: [1, -2],
    });
  }
});

test('parts of large compressed data are refused: each would inflate all of it', async () => {
  const elements = 20_000_000;
  const zeros = { 0: new Uint8Array(4 * elements) };
  const part = pickledStateDict([{ ...matrix, name: 'row', elements, shape: [6] }]);
  await assertRefused(torchFile(part, zeros, 'deflated'), 'model.unsupported', /part of compressed data/);
  const whole = pickledStateDict([{ ...matrix, name: 'all', elements, shape: [elements] }]);
  assert.equal((await readTorchTensors(write(torchFile(whole, zeros, 'deflated')))).size, 1);
});

test('a stored tensor is read from its place in the file, not with its storage', async () => {
  const list = pickledStateDict([{ ...matrix, name: 'row', shape: [6], start: 12 }]);
  const tensor = (await readTorchTensors(write(torchFile(list, storages)))).get('row')!;
  assert.equal(tensor.deflated, undefined);
  const bytes = readFileSync(tensor.file).subarray(tensor.offset, tensor.offset + tensor.byteLength);
  assert.deepEqual(bytes, bytesOf(numbers.subarray(12, 18)));
});

test('nothing is run: what else a pickle calls for is named', async () => {
  const attacks = [
    ['posix', 'system'],
    ['builtins', 'eval'],
    ['torch', 'DoubleStorage'],
    ['torch._utils', '_rebuild_sparse_tensor'],
    ['collections', 'OrderedDict.clear'],
  ];
  for (const [module, name] of attacks) {
    const list = Buffer.concat([
      pickle.start,
      pickle.call(pickle.global(module, name), pickle.text('touch x')),
      pickle.stop,
    ]);
    await assertRefused(torchFile(list, {}), 'model.unsupported', new RegExp(`needs ${module}.${name}`));
  }
  const strange = Buffer.concat([pickle.start, pickle.global('a\x1b[2J', 'b'), pickle.stop]);
  await assertRefused(torchFile(strange, {}), 'model.unsupported', /needs a\?\?2J\.b,/);
});

test('what is no dict of tensors is refused', async () => {
  const dict = (value: Buffer) =>
    Buffer.concat([pickle.start, Buffer.from('}'), pickle.items(pickle.text('epoch'), value), pickle.stop]);
  const refuse = (list: Buffer, words: RegExp) =>
    assertRefused(torchFile(list, storages), 'model.unsupported', words);
  await refuse(dict(pickle.int(3)), /"epoch", which is not a tensor/);
  await refuse(dict(Buffer.from('}')), /"epoch", which is not a tensor/);
  await refuse(Buffer.concat([pickle.start, pickledTensor(matrix), pickle.stop]), /not hold a dict/);
  await refuse(Buffer.concat([pickle.start, Buffer.from(']'), pickle.stop]), /pickle opcode 0x5d/);
});

test('a tensor that is described wrongly is named', async () => {
  const wrong: [Partial<TorchTensor>, ErrorCode, RegExp][] = [
    [{ stride: [1, 4] }, 'model.unsupported', /a\.weight transposed or spread/],
    [{ stride: [12, 1] }, 'model.unsupported', /a\.weight transposed or spread/],
    [{ stride: [0, 0] }, 'model.unsupported', /a\.weight transposed or spread/],
    [{ shape: [4, 7] }, 'model.corrupt', /a\.weight more than is stored/],
    [{ start: 1 }, 'model.corrupt', /a\.weight more than is stored/],
    [{ start: -1 }, 'model.corrupt', /a\.weight wrongly/],
    [{ shape: [-4, -6], stride: [-6, 1] }, 'model.corrupt', /a\.weight wrongly/],
    [{ shape: [2 ** 30, 2 ** 30] }, 'model.corrupt', /a\.weight more than is stored/],
    [{ stride: [1] }, 'model.corrupt', /a\.weight wrongly/],
    [{ elements: 25 }, 'model.corrupt', /not hold the data of tensor a\.weight/],
    [{ storage: 'LongStorage' }, 'model.corrupt', /not hold the data of tensor a\.weight/],
    [{ key: '../0' }, 'model.corrupt', /not hold the data of tensor a\.weight/],
  ];
  for (const [change, code, words] of wrong) {
    await assertRefused(torchFile(pickledStateDict([{ ...matrix, ...change }]), storages), code, words);
  }
});

test('a zip archive that is made to mislead is refused', async () => {
  const list = { name: 'head/data.pkl', data: pickledStateDict([matrix]) };
  const data = { name: 'head/data/0', data: storages[0] };
  const refuse = (bytes: Buffer, words: RegExp, code: ErrorCode = 'model.corrupt') =>
    assertRefused(bytes, code, words);
  assert.deepEqual(Object.keys(await readValues(zip([list, data]))), ['a.weight']);

  await refuse(zip([list, data, data]), /data\/0 twice/);
  await refuse(zip([list]), /not hold the data of tensor a\.weight/);
  await refuse(zip([data]), /not a file of tensors that PyTorch wrote/);
  await refuse(zip([list, { ...list, name: 'other/data.pkl' }, data]), /not a file of tensors/);
  await refuse(zip([list, { ...data, name: '../data/0' }]), /invalid relative path/);
  await refuse(zip([list, { ...data, claims: { offset: 2 ** 31 } }]), /outside the file/);
  await refuse(zip([list, { ...data, claims: { size: 2 ** 31, inflatedSize: 2 ** 31 } }]), /overflows/);
  await refuse(zip([list, { ...data, claims: { size: 95 } }]), /size mismatch/);
  // The header of the second entry is that of the first.
  await refuse(zip([list, { ...list, name: 'head/data/0', claims: { offset: 0 } }]), /overlap/);
  await refuse(
    zip([list, { ...data, claims: { flags: 1, size: 108 } }, data]),
    /encrypted/,
    'model.unsupported',
  );
  const bomb = { ...data, method: 'deflated', claims: { inflatedSize: 2 ** 31 } } as const;
  await refuse(zip([list, bomb]), /claims that head\/data\/0 is 2147483648 bytes/);
  const long = { ...list, data: Buffer.concat([list.data, Buffer.alloc(2 ** 20)]) };
  await refuse(zip([long, data]), /list of tensors that is too long/);
  const big = { name: 'head/byteorder', data: Buffer.from('big') };
  await refuse(zip([list, data, big]), /big-endian/, 'model.unsupported');
});

test('an offset of a zip64 record that no file can have is refused', async () => {
  const bytes = torchFile(pickledStateDict([matrix]), storages);
  const end = bytes.length - 22;
  const locator = Buffer.alloc(20);
  locator.write('PK\x06\x07', 'latin1');
  locator.writeBigUInt64LE(2n ** 63n, 8);
  const forged = Buffer.concat([bytes.subarray(0, end), locator, bytes.subarray(end)]);
  await assertRefused(forged, 'model.corrupt', /not a complete zip archive/);
});

test('a deflated tensor that inflates to something else is damaged', async () => {
  const whole = torchFile(pickledStateDict([matrix]), storages, 'deflated');
  const tensors = await readTorchTensors(write(whole));
  const { deflated } = tensors.get('a.weight')!;
  const damaged = Buffer.from(whole);
  damaged.fill(0xff, deflated!.offset, deflated!.offset + deflated!.byteLength);
  await assert.rejects(readValues(damaged), { code: 'model.corrupt', message: /a\.weight is damaged/ });
});

test('files of other formats are told apart', async () => {
  const legacy = Buffer.from('8002 8a0a 6cfc9c46f920 6aa85019 2e80'.replaceAll(' ', ''), 'hex');
  await assertRefused(legacy, 'model.unsupported', /PyTorch before 1\.6/);
  await assertRefused(Buffer.from('<!DOCTYPE html>'), 'model.corrupt', /not a complete zip archive/);
  await assertRefused(Buffer.alloc(0), 'model.corrupt', /not a complete zip archive/);
  await assert.rejects(readTorchTensors(folder), { code: 'io' });
  await assert.rejects(readTorchTensors(join(folder, 'none.bin')), { code: 'model.notFound' });
});

/** Reads a file and all its tensors. Whatever is wrong with it, nothing but a fault that names it may come of it. */
async function readsOrRefuses(bytes: Buffer): Promise<'read' | 'refused'> {
  const file = write(bytes);
  try {
    for (const [name, tensor] of await readTorchTensors(file)) {
      const { offset, byteLength } = tensor.deflated ?? tensor;
      assert.ok(offset >= 0 && offset + byteLength <= bytes.length, 'a tensor outside the file');
      assert.equal((await readBytes({ ...tensor, name })).length, tensor.byteLength);
    }
    return 'read';
  } catch (error) {
    assert.ok(error instanceof SlipstreamError, (error as Error).stack);
    assert.ok(error.message.startsWith(file), error.message);
    return 'refused';
  }
}

const sample = (method: 'stored' | 'deflated') =>
  torchFile(
    pickledStateDict([
      matrix,
      { ...matrix, name: 'row', shape: [6], start: 12, parameter: true },
      { ...matrix, name: 'd2t', storage: 'LongStorage', key: '1', elements: 3, shape: [3] },
    ]),
    { ...storages, 1: bytesOf(BigInt64Array.of(0n, 1n, 5n)) },
    method,
  );
const samples = [sample('stored'), sample('deflated')];

test('a truncated file is refused wherever it ends', async () => {
  for (const whole of samples) {
    await fc.assert(
      fc.asyncProperty(fc.nat(whole.length - 1), async (length) => {
        assert.equal(await readsOrRefuses(whole.subarray(0, length)), 'refused');
      }),
    );
  }
});

test('a file with changed bytes is read or refused', async () => {
  const seen = new Set<string>();
  for (const whole of samples) {
    const change = fc.record({ at: fc.nat(whole.length - 1), byte: fc.nat(255) });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 6 }), async (changes) => {
        const changed = Buffer.from(whole);
        for (const { at, byte } of changes) changed[at] = byte;
        seen.add(await readsOrRefuses(changed));
      }),
      { numRuns: 300 },
    );
  }
  assert.deepEqual([...seen].sort(), ['read', 'refused']);
});

test('any sequence of opcodes is read or refused', async () => {
  const opcodes = [...'()}NtRbQsu.', '\x85', '\x86', '\x87', '\x88', '\x89', '\x93', '\x94'].map((opcode) =>
    Buffer.from(opcode, 'latin1'),
  );
  const part = fc.oneof(
    fc.constantFrom(...opcodes),
    fc.constantFrom(
      pickle.global('collections', 'OrderedDict'),
      pickle.global('torch._utils', '_rebuild_tensor_v2'),
      pickle.global('torch', 'FloatStorage'),
      pickle.text('storage'),
      pickle.text('0'),
      pickledTensor(matrix),
      pickledTensor({ ...matrix, shape: [6], start: 3 }),
    ),
    fc.integer({ min: -3, max: 30 }).map(pickle.int),
    fc
      .record({ opcode: fc.constantFrom('q', 'h'), index: fc.nat(3) })
      .map(({ opcode, index }) => Buffer.concat([Buffer.from(opcode), Buffer.of(index)])),
    fc.uint8Array({ maxLength: 12 }).map((bytes) => Buffer.from(bytes)),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(part, { maxLength: 40 }), async (parts) => {
      await readsOrRefuses(torchFile(Buffer.concat([pickle.start, ...parts, pickle.stop]), storages));
    }),
    { numRuns: 300 },
  );
});

test('a pickle of a megabyte is refused in no time, however deep it nests', async () => {
  const size = 2 ** 20 - 10;
  for (const opcodes of [')', '(t', '\x85', '}(NNu']) {
    const filling = Buffer.from(opcodes.repeat(Math.floor(size / opcodes.length)), 'latin1');
    const list = Buffer.concat([pickle.start, Buffer.from(')'), filling, pickle.stop]);
    assert.equal(await readsOrRefuses(torchFile(list, {})), 'refused');
  }
});
