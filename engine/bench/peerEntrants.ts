import type { SessionPrompt } from '../decode/session.ts';
import type { Algorithm } from '../protocol.ts';
import { greedyVerifier } from '../verify/greedy.ts';
import { type Contestant, WARM_UP_TOKENS } from './contestants.ts';
import type { Peer } from './peer/llamaCpp.ts';
import type { PeerDrafting } from './peer/peerSequence.ts';

/** Of each completion, end tokens included: both sides do the same work whatever the model writes. */
export const NEW_TOKENS = 64;

export type EntrantName = `slipstream ${Algorithm}` | `node-llama-cpp ${PeerDrafting['kind'] | 'plain'}`;

/** What one of those compared wrote; only decoding is timed. */
export interface EntrantText {
  readonly tokens: readonly number[];
  readonly decodeMs: number;
  readonly numDraftTokens: number;
  readonly numAcceptedTokens: number;
}

/** Ours and the peer's alike: it has prefilled the prompt when its clock starts, all but the last token. */
export interface Entrant {
  readonly name: EntrantName;
  write(prompt: SessionPrompt): Promise<EntrantText>;
}

export function ourEntrant({ algorithm, runtime, speculation }: Contestant): Entrant {
  const decode = (prompt: SessionPrompt, maxNewTokens: number) =>
    runtime.decode(
      { ...speculation, verifier: greedyVerifier },
      {
        prompt,
        maxNewTokens,
        endTokens: new Set(),
        onToken: () => 'continue',
        signal: new AbortController().signal,
      },
    );
  return {
    name: `slipstream ${algorithm}`,
    async write(prompt) {
      await decode(withoutLastToken(prompt), WARM_UP_TOKENS);
      const { tokens, metrics } = await decode(prompt, NEW_TOKENS);
      const { decodeMs, numDraftTokens, numAcceptedTokens } = metrics;
      return { tokens, decodeMs, numDraftTokens, numAcceptedTokens };
    },
  };
}

/** Near enough to the keystroke before: what is written after it begins, as a rule, with the token that is missing. */
function withoutLastToken({ tokens, prefix, ...prompt }: SessionPrompt): SessionPrompt {
  const end = tokens.length - 1;
  return {
    ...prompt,
    tokens: tokens.subarray(0, end),
    prefix: { ...prefix, end: Math.min(prefix.end, end) },
  };
}

export function peerEntrant({ setup, generate }: Peer): Entrant {
  return {
    name: `node-llama-cpp ${setup.drafting?.kind ?? 'plain'}`,
    write: ({ tokens }) => generate(tokens, NEW_TOKENS),
  };
}
