import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { productsSaturate } from '../../../engine/model/saturation.ts';

const flags = process.platform === 'linux' ? readFileSync('/proc/cpuinfo', 'utf8') : '';
const hasVnni = /avx512_vnni|avx_vnni/.test(flags);

test('products are exact where the processor has instructions for them', { skip: !hasVnni }, async () => {
  assert.equal(await productsSaturate(), false);
});
