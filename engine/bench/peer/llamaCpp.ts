import { cachedGguf } from '../gguf/cachedGguf.ts';
import type { GgufPrecision } from '../gguf/convertCheckpoint.ts';
import { installPeer } from './installPeer.ts';
import type { LlamaSequence, PeerModule } from './peerModule.ts';

export interface PeerSetup {
  readonly precision: GgufPrecision;
  readonly threads: number;
}

export interface PeerRun {
  readonly tokens: readonly number[];
  readonly prefillMs: number;
  /** Of the generated tokens alone, the first included: its pass evaluates the prompt's last token, as ours does. */
  readonly decodeMs: number;
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
  const peer: PeerModule = await installPeer(cacheDir);
  const maxThreads = Math.max(...setups.map(({ threads }) => threads));
  const llama = await peer.getLlama({ gpu: false, build: 'never', maxThreads, progressLogs: false });
  const peers: Peer[] = [];
  for (const setup of setups) {
    const model = await llama.loadModel({ modelPath: await cachedGguf(modelDir, setup.precision, cacheDir) });
    const threads = { ideal: setup.threads, min: setup.threads };
    const context = await model.createContext({ contextSize, threads });
    const sequence = context.getSequence();
    peers.push({ setup, generate: (prompt, count) => generate(sequence, prompt, count) });
  }
  return { peers, dispose: () => llama.dispose() };
}

async function generate(sequence: LlamaSequence, prompt: Int32Array, count: number): Promise<PeerRun> {
  await sequence.clearHistory();
  const prefillStarted = performance.now();
  await sequence.evaluateWithoutGeneratingNewTokens([...prompt.subarray(0, -1)]);
  const prefillMs = performance.now() - prefillStarted;
  const tokens: number[] = [];
  const decodeStarted = performance.now();
  const options = { temperature: 0, yieldEogToken: true } as const;
  for await (const token of sequence.evaluate([prompt[prompt.length - 1]], options)) {
    tokens.push(token);
    if (tokens.length === count) break;
  }
  return { tokens, prefillMs, decodeMs: performance.now() - decodeStarted };
}
