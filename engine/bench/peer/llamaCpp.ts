import { cachedGguf } from '../gguf/cachedGguf.ts';
import type { GgufPrecision, GgufSource } from '../gguf/convertCheckpoint.ts';
import { installPeer } from './installPeer.ts';
import type { Llama, LlamaContext, LlamaModel } from './peerModule.ts';
import { openSequence, type PeerDrafting, type PeerSequence } from './peerSequence.ts';

export interface PeerSetup {
  /** Of the draft model too, where one drafts. */
  readonly precision: GgufPrecision;
  readonly threads: number;
  /** Absent: plain decoding. */
  readonly drafting?: PeerDrafting;
}

export interface PeerRun {
  readonly tokens: readonly number[];
  readonly prefillMs: number;
  /** Of the generated tokens alone, the first included: its pass evaluates the prompt's last token, as ours does. */
  readonly decodeMs: number;
  readonly numDraftTokens: number;
  readonly numAcceptedTokens: number;
}

export interface Peer {
  readonly setup: PeerSetup;
  generate(prompt: Int32Array, count: number): Promise<PeerRun>;
}

export interface Peers {
  readonly peers: readonly Peer[];
  dispose(): Promise<void>;
}

/** node-llama-cpp on the CPU with the weights of a checkpoint, ready to generate in each of these setups. */
export async function startPeers(
  modelDir: string,
  setups: readonly PeerSetup[],
  contextSize: number,
  cacheDir: string,
): Promise<Peers> {
  const module = await installPeer(cacheDir);
  const maxThreads = Math.max(...setups.map(({ threads }) => threads));
  const llama = await module.getLlama({ gpu: false, build: 'never', maxThreads, progressLogs: false });
  const loadModel = modelLoader(llama, cacheDir);
  const contexts: LlamaContext[] = [];
  const createContext = async (source: GgufSource, { precision, threads }: PeerSetup) => {
    const model = await loadModel(source, precision);
    const context = await model.createContext({ contextSize, threads: { ideal: threads, min: threads } });
    contexts.push(context);
    return context;
  };
  const parts = { module, modelDir, createContext };
  const peers: Peer[] = [];
  for (const setup of setups) {
    const sequence = await openSequence(parts, setup);
    peers.push({ setup, generate: (prompt, count) => generate(sequence, [...prompt], count) });
  }
  return {
    peers,
    dispose: async () => {
      for (const context of contexts) await context.dispose();
      await llama.dispose();
    },
  };
}

/** Setups share the models that they have in common. */
function modelLoader(llama: Llama, cacheDir: string) {
  const loaded = new Map<string, LlamaModel>();
  return async (source: GgufSource, precision: GgufPrecision): Promise<LlamaModel> => {
    const modelPath = await cachedGguf(source, precision, cacheDir);
    const model = loaded.get(modelPath) ?? (await llama.loadModel({ modelPath }));
    loaded.set(modelPath, model);
    return model;
  };
}

async function generate(
  { target, predictor, draft }: PeerSequence,
  prompt: readonly number[],
  count: number,
): Promise<PeerRun> {
  await target.clearHistory();
  predictor?.updateInputTokens(prompt);
  const before = target.tokenPredictions;
  const prefillStarted = performance.now();
  // The draft model's prefill too.
  await target.evaluateWithoutGeneratingNewTokens(prompt.slice(0, -1));
  const prefillMs = performance.now() - prefillStarted;
  const tokens: number[] = [];
  const decodeStarted = performance.now();
  const options = { temperature: 0, yieldEogToken: true } as const;
  for await (const token of target.evaluate(prompt.slice(-1), options)) {
    tokens.push(token);
    if (tokens.length === count) break;
  }
  const decodeMs = performance.now() - decodeStarted;
  // Waits until nothing is being drafted any more, or it would disturb whoever decodes next.
  await predictor?.reset({ targetSequence: target, stateTokens: [], evaluateOptions: {} });
  // The next prompt would keep what rows it can of this one, moved out of their places.
  await draft?.clearHistory();
  const { validated, refuted } = target.tokenPredictions;
  const numAcceptedTokens = validated - before.validated;
  const numDraftTokens = numAcceptedTokens + refuted - before.refuted;
  return { tokens, prefillMs, decodeMs, numDraftTokens, numAcceptedTokens };
}
