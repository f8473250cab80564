import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SlipstreamError } from '../../../engine/errors.ts';
import { gpuFault } from '../../../engine/model/gpuFault.ts';

const said: readonly (readonly [message: string, code: SlipstreamError['code']])[] = [
  [
    'webgpu_context.cc:136 Initialize adapter_result.status == wgpu::RequestAdapterStatus::Success was false. Failed to get a WebGPU adapter: No supported adapters',
    'device.unavailable',
  ],
  [
    'shader_helper.cc:416 GenerateSourceCode Program Add requires f16 but the device does not support it.',
    'device.unavailable',
  ],
  ['vkAllocateMemory failed with VK_ERROR_OUT_OF_DEVICE_MEMORY', 'outOfMemory'],
  ['Failed to allocate memory for requested buffer of size 1244659712', 'outOfMemory'],
  ['std::bad_alloc', 'outOfMemory'],
  ['WebGPU device lost (2): vkQueueSubmit failed with VK_ERROR_DEVICE_LOST', 'device.lost'],
  ['something nobody has seen', 'device.lost'],
];

for (const [message, code] of said) {
  test(`${code}: ${message.slice(0, 60)}`, () => {
    const cause = new Error(message);
    const fault = gpuFault(cause);
    assert.equal(fault.code, code);
    assert.equal(fault.cause, cause);
    assert.doesNotMatch(fault.message, /\n/);
  });
}

test('a fault that is coded already stays what it is', () => {
  const fault = new SlipstreamError('usage', 'too long');
  assert.equal(gpuFault(fault), fault);
});
