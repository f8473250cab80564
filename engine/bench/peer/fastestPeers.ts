import { median } from '../../benchmark/statistics.ts';
import type { Peer, PeerSetup } from './llamaCpp.ts';

export interface PeerTrial {
  readonly prompts: readonly Int32Array[];
  /** Tokens that each of them is continued with. */
  readonly count: number;
}

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
