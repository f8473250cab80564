import type { CompiledModel } from '../compile/compileModel.ts';
import type { ModelInfo } from './languageModel.ts';

export function modelInfo({ checkpoint, precision, device, weightBytes, taps }: CompiledModel): ModelInfo {
  const { architecture, name, eosTokenIds } = checkpoint;
  return {
    name,
    family: architecture.family,
    vocabSize: architecture.vocabSize,
    hiddenSize: architecture.hiddenSize,
    layers: architecture.layers,
    tapCount: taps.length,
    contextLength: architecture.contextLength,
    eosTokenIds,
    precision,
    device,
    weightBytes,
  };
}
