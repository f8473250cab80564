import { median } from '../../benchmark/statistics.ts';
import { mostThreads } from '../../config.ts';
import type { GgufPrecision } from '../gguf/convertCheckpoint.ts';
import type { Peer, PeerSetup } from './llamaCpp.ts';

export interface PeerTrial {
  readonly prompts: readonly Int32Array[];
  /** Tokens that each of them is continued with. */
  readonly count: number;
}

/** Which the fastest is chosen from: the engine beside them may use as many threads. */
export const peerThreadCounts: readonly number[] = [1, 2, 4, 8].filter(
  (count) => count <= Math.max(2, mostThreads),
);
const peerPrecisions: readonly GgufPrecision[] = ['f16', 'q8_0'];
/** Every file with every number of threads. */
export const plainSetups: readonly PeerSetup[] = peerPrecisions.flatMap((precision) =>
  peerThreadCounts.map((threads) => ({ precision, threads })),
);

/** Of the peers of each kind the one that decodes faster, fastest kind first; interleaved, prompt by prompt. */
export async function fastestPeers(
  peers: readonly Peer[],
  { prompts, count }: PeerTrial,
  kindOf: (setup: PeerSetup) => string,
): Promise<Peer[]> {
  const trialsMs = new Map<Peer, number[]>(peers.map((peer) => [peer, []]));
  for (const prompt of prompts) {
    for (const [peer, timesMs] of trialsMs) timesMs.push((await peer.generate(prompt, count)).decodeMs);
  }
  const byMs = [...peers].sort((a, b) => median(trialsMs.get(a)!) - median(trialsMs.get(b)!));
  return byMs.filter(({ setup }, i) => i === byMs.findIndex((peer) => kindOf(peer.setup) === kindOf(setup)));
}
