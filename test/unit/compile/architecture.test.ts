import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Architecture, type RopeScaling, ropeTables } from '../../../engine/compile/architecture.ts';

const llama3: RopeScaling = {
  type: 'llama3',
  factor: 8,
  lowFrequencyFactor: 1,
  highFrequencyFactor: 4,
  originalContextLength: 8192,
};

function architecture(ropeScaling: RopeScaling): Architecture {
  return {
    family: 'llama',
    vocabSize: 8,
    hiddenSize: 64,
    intermediateSize: 8,
    layers: 1,
    heads: 1,
    kvHeads: 1,
    headDim: 64,
    normEpsilon: 1e-6,
    ropeTheta: 500000,
    ropeScaling,
    contextLength: 200,
    tiedEmbeddings: true,
    qkNorm: false,
    bias: { qkv: false, output: false, mlp: false },
  };
}

/** The llama3 rule in terms of wavelengths, as its authors state it (Llama models, apply_scaling). */
function llama3Frequency(frequency: number): number {
  const wavelength = (2 * Math.PI) / frequency;
  if (wavelength < 8192 / 4) return frequency;
  if (wavelength > 8192 / 1) return frequency / 8;
  const smooth = (8192 / wavelength - 1) / (4 - 1);
  return (1 - smooth) * (frequency / 8) + smooth * frequency;
}

const rules: [RopeScaling, (frequency: number) => number][] = [
  [{ type: 'none' }, (frequency) => frequency],
  [{ type: 'linear', factor: 4 }, (frequency) => frequency / 4],
  [llama3, llama3Frequency],
];

for (const [scaling, rule] of rules) {
  test(`rotary angles, scaling ${scaling.type}`, () => {
    const { cos, sin } = ropeTables(architecture(scaling));
    assert.equal(cos.length, 200 * 32);
    for (const position of [0, 1, 57, 199]) {
      for (let pair = 0; pair < 32; pair++) {
        const angle = position * rule(500000 ** (-pair / 32));
        assert.ok(Math.abs(cos[32 * position + pair] - Math.cos(angle)) < 2e-5, `${position}, ${pair}`);
        assert.ok(Math.abs(sin[32 * position + pair] - Math.sin(angle)) < 2e-5, `${position}, ${pair}`);
      }
    }
  });
}

test('llama3 scaling leaves, blends and divides frequencies', () => {
  const frequencies = Array.from({ length: 32 }, (_, pair) => 500000 ** (-pair / 32));
  const ratios = frequencies.map((frequency) => llama3Frequency(frequency) / frequency);
  assert.ok(
    ratios.includes(1) && ratios.includes(1 / 8) && ratios.some((ratio) => ratio > 0.13 && ratio < 0.99),
  );
});
