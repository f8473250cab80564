import type { Drafter } from '../draft/drafter.ts';
import { isCatchingUp, treeOf } from '../draft/proposal.ts';
import { type DecodeMetrics, MetricsRecorder } from '../metrics.ts';
import { takeShallowest } from '../tree/subtrees.ts';
import { emptyTree, type TokenTree } from '../tree/tokenTree.ts';
import type { Verifier } from '../verify/verifier.ts';
import type { DraftController, StepOutcome } from './controller.ts';
import { prefill } from './prefill.ts';
import type { Session, SessionPrompt } from './session.ts';

/**
 * How to decode. The verifier decides what comes out: whatever drafts, greedy text is the same and sampled text has the
 * same distribution. Which text is sampled does depend on a drafter that draws its drafts.
 */
export interface DecodeStrategy {
  /** Absent: plain decoding. */
  readonly drafter?: Drafter | undefined;
  readonly controller: DraftController;
  readonly verifier: Verifier;
}

export interface DecodeRequest {
  readonly prompt: SessionPrompt;
  readonly maxNewTokens: number;
  /** Tokens that end the text and are not part of it. */
  readonly endTokens: ReadonlySet<number>;
  /** Takes each token in order; what it answers decides whether another one follows. */
  readonly onToken: (token: number) => 'continue' | 'stop';
  /** Sees each pass of the target, after it. */
  readonly onStep?: ((step: DecodeStep) => void) | undefined;
  readonly signal: AbortSignal;
  /** When it was asked for, by `performance.now()`; absent: when decoding begins. */
  readonly askedMs?: number | undefined;
}

/** What was drafted for one pass of the target, and what became of it. */
export interface DecodeStep {
  readonly tree: TokenTree;
  /** Indices of the accepted nodes, root to leaf. */
  readonly accepted: readonly number[];
  readonly bonus: number;
  /** How many of the accepted tokens and the bonus after them were of use: those up to the end of the text. */
  readonly taken: number;
  readonly draftMs: number;
  readonly verifyMs: number;
}

export interface DecodeResult {
  /** `end`: an end token; `stop`: onToken said so; `length`: maxNewTokens, or the model's context is full. */
  readonly finish: 'end' | 'stop' | 'length' | 'cancelled';
  readonly tokens: readonly number[];
  readonly metrics: DecodeMetrics;
}

/** Of a request that never began. */
export const nothingDecoded = (finish: DecodeResult['finish']): DecodeResult => ({
  finish,
  tokens: [],
  metrics: new MetricsRecorder(0, 0).finish(0),
});

/**
 * THE loop: draft a tree, evaluate it in one pass, keep what the target itself would have written, learn, repeat.
 * Plain decoding is the same loop with an empty tree.
 *
 * @throws SlipstreamError whatever the model throws; the session is of no more use then
 */
export async function decode(
  session: Session,
  strategy: DecodeStrategy,
  request: DecodeRequest,
): Promise<DecodeResult> {
  session.start(request.prompt);
  const metrics = new MetricsRecorder(request.prompt.tokens.length, session.pending, request.askedMs);
  const output = new Output({ ...request, maxNewTokens: Math.min(request.maxNewTokens, session.room) });
  await prefill(session, request.signal);
  metrics.decodeStarted();
  while (!output.finish && !request.signal.aborted) {
    await step(session, strategy, output, metrics, request);
  }
  const { finish = 'cancelled', tokens } = output;
  return { finish, tokens, metrics: metrics.finish(tokens.length) };
}

async function step(
  session: Session,
  strategy: DecodeStrategy,
  output: Output,
  metrics: MetricsRecorder,
  { onStep, signal }: DecodeRequest,
): Promise<void> {
  const { drafter, verifier, controller } = strategy;
  const { tree, drafting, draftMs } = await draft(session, strategy, output.room, signal);
  if (signal.aborted) return;
  const place = { context: session.tokens.length, nodes: session.pending + tree.size };
  const root = session.tokens[session.tokens.length - 1];
  const started = performance.now();
  const rows = await session.verify(tree, verifier.want);
  const passed = performance.now();
  const verified = verifier.verify(tree, rows);
  const drawMs = performance.now() - passed;
  await session.commit(tree, verified.accepted, verified.bonus);
  const verifyMs = performance.now() - started;
  const taken = output.push([...verified.accepted.map((node) => tree.tokens[node]), verified.bonus]);
  // What was accepted behind the end of the text gained nothing and does not count.
  metrics.step(tree, verified.accepted.slice(0, taken), draftMs, verifyMs);
  onStep?.({ tree, ...verified, taken, draftMs, verifyMs });
  drafter?.observe({ tree, root, ...verified, taken, successors: rows.successors, drafting });
  controller.observe({
    ...place,
    tree,
    accepted: verified.accepted.length,
    drafting,
    draftMs,
    passMs: verifyMs - drawMs,
  });
}

interface Draft extends Pick<StepOutcome, 'drafting' | 'draftMs'> {
  readonly tree: TokenTree;
}

async function draft(
  session: Session,
  { drafter, controller }: DecodeStrategy,
  room: number,
  signal: AbortSignal,
): Promise<Draft> {
  // The bonus fills the last place: drafting for it would be verified for nothing.
  const budget = drafter && room > 1 ? controller.budget() : 0;
  if (!drafter || budget === 0) return { tree: emptyTree, drafting: 'notAsked', draftMs: 0 };
  const started = performance.now();
  const proposal = await drafter.propose(session, budget, { signal });
  const place = { context: session.tokens.length, pending: session.pending };
  const chosen = controller.choose(treeOf(proposal), { ...place, draftMs: performance.now() - started });
  // Deeper nodes would not fit what is left to write, or not come out as they do in plain decoding.
  const tree = takeShallowest(chosen, Math.min(room - 1, session.exactDepth - session.pending));
  const drafting = isCatchingUp(proposal) ? 'catchingUp' : 'drafted';
  return { tree, drafting, draftMs: performance.now() - started };
}

/** Tokens handed out so far, and why there are no more. */
class Output {
  readonly tokens: number[] = [];
  readonly #request: DecodeRequest;
  #finish: 'end' | 'stop' | 'length' | undefined;

  constructor(request: DecodeRequest) {
    this.#request = request;
    if (request.maxNewTokens <= 0) this.#finish = 'length';
  }

  get finish() {
    return this.#finish;
  }

  get room(): number {
    return this.#request.maxNewTokens - this.tokens.length;
  }

  /** @returns how many were of use: those up to the end */
  push(tokens: readonly number[]): number {
    for (const [taken, token] of tokens.entries()) {
      if (this.#finish) return taken;
      if (this.#request.endTokens.has(token)) this.#finish = 'end';
      else this.#take(token);
    }
    return tokens.length;
  }

  #take(token: number): void {
    this.tokens.push(token);
    if (this.#request.onToken(token) === 'stop') this.#finish = 'stop';
    else if (this.room === 0) this.#finish = 'length';
  }
}
