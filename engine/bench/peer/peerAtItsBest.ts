import { fastestPeers, type PeerTrial, peerThreadCounts, plainSetups } from './fastestPeers.ts';
import { type PeerSetup, type Peers, startPeers } from './llamaCpp.ts';
import type { PeerDrafting } from './peerSequence.ts';

export interface PeerNeeds {
  readonly modelDir: string;
  readonly draftModelDir: string;
  readonly contextSize: number;
  readonly cacheDir: string;
}

/**
 * The peer decoding plainly, with its lookup and with its draft model: the file that it decodes plainly faster from, and
 * each way with the threads and settings that are fastest in a trial.
 */
export async function startPeerAtItsBest(needs: PeerNeeds, trial: PeerTrial): Promise<Peers> {
  const plain = await fastestPlain(needs, trial);
  const drafting = peerThreadCounts.flatMap((threads) =>
    draftings(needs.draftModelDir).map((drafting) => ({ ...plain, threads, drafting })),
  );
  const started = await start(needs, [plain, ...drafting]);
  try {
    return { ...started, peers: await fastestPeers(started.peers, trial, kindOf) };
  } catch (error) {
    await started.dispose();
    throw error;
  }
}

async function fastestPlain(needs: PeerNeeds, trial: PeerTrial): Promise<PeerSetup> {
  const { peers, dispose } = await start(needs, plainSetups);
  try {
    const [{ setup }] = await fastestPeers(peers, trial, kindOf);
    return setup;
  } finally {
    await dispose();
  }
}

function start({ modelDir, contextSize, cacheDir }: PeerNeeds, setups: readonly PeerSetup[]): Promise<Peers> {
  return startPeers(modelDir, setups, contextSize, cacheDir);
}

/** Its defaults first. With `minTokens` above 0 it waits for drafts, and trials with that did not end within minutes. */
function draftings(dir: string): PeerDrafting[] {
  return [
    { kind: 'lookup', maxTokens: 3 },
    { kind: 'lookup', maxTokens: 8 },
    { kind: 'draftModel', dir, minTokens: 0, minConfidence: 0.6 },
    { kind: 'draftModel', dir, minTokens: 0, minConfidence: 0.3 },
  ];
}

const kindOf = ({ drafting }: PeerSetup) => drafting?.kind ?? 'plain';
