import type { Algorithm, SpeculationSettings } from '../protocol.ts';

/** Algorithms by what drafts: a head or model of its own, or text that is there anyway. */
const learned: readonly Algorithm[] = ['auto', 'nextn', 'standalone', 'eagle', 'eagle2', 'eagle3', 'medusa'];
/** A trained drafter may be chosen for these by its folder. */
const fromFolder: readonly Algorithm[] = ['auto', 'standalone', 'eagle', 'eagle2', 'eagle3', 'medusa'];

/**
 * Draft tokens of a pass at most. Larger trees pay on no machine measured, and the attention of the CPU is exact for
 * batches of up to 96 tokens (compile/cpuAttention): these, and the few that are pending.
 */
const MOST_DRAFT_TOKENS = 64;
/** No head sees further, or is worth following further. */
const MOST_STEPS = 16;
const MOST_TOPK = 16;

/**
 * Why settings that are each in order do not go together, as a sentence for the user; undefined when they do.
 *
 * The arithmetic of SGLang: a tree of `numSteps` levels in which each of `eagleTopk` tokens is followed by `eagleTopk`
 * others holds eagleTopk + (numSteps - 1) * eagleTopk^2 tokens to choose from. SGLang counts the token before the drafts
 * among the draft tokens of a chain, so one more than numSteps is let pass.
 */
export function speculationProblem(settings: SpeculationSettings): string | undefined {
  const { algorithm, numSteps, eagleTopk, numDraftTokens, medusaTree, draftModel } = settings;
  const name = algorithm.toUpperCase();
  const shaped = numSteps !== undefined || eagleTopk !== undefined;
  if (shaped && !learned.includes(algorithm)) {
    return `${name} drafts without steps of a head or model: leave out the number of steps and top-k.`;
  }
  if (draftModel !== undefined && !fromFolder.includes(algorithm)) {
    return `${name} has no draft model: leave its folder out, or choose STANDALONE, EAGLE, EAGLE2, EAGLE3 or MEDUSA.`;
  }
  if (algorithm === 'none' && numDraftTokens !== undefined) {
    return 'NONE drafts nothing: leave out the number of draft tokens.';
  }
  if (eagleTopk !== undefined && algorithm === 'eagle') {
    return 'EAGLE drafts a tree of a fixed shape: leave out top-k, or choose EAGLE2.';
  }
  if (medusaTree !== undefined && algorithm !== 'medusa') {
    return `${name} drafts no Medusa tree: leave it out, or choose MEDUSA.`;
  }
  if (eagleTopk !== undefined && medusaTree !== undefined) {
    return 'A published Medusa tree has a fixed shape: leave out top-k, or the tree.';
  }
  if (numDraftTokens !== undefined && numDraftTokens > MOST_DRAFT_TOKENS) {
    return `${numDraftTokens} draft tokens a step are too many: at most ${MOST_DRAFT_TOKENS}.`;
  }
  if (numSteps !== undefined && numSteps > MOST_STEPS) {
    return `${numSteps} steps are too many: at most ${MOST_STEPS}.`;
  }
  if (eagleTopk !== undefined && eagleTopk > MOST_TOPK) {
    return `A top-k of ${eagleTopk} is too large: at most ${MOST_TOPK}.`;
  }
  return treeProblem(numSteps, eagleTopk, numDraftTokens);
}

function treeProblem(steps?: number, topk?: number, tokens?: number): string | undefined {
  if (steps === undefined || topk === undefined || tokens === undefined) return undefined;
  if (topk === 1 && tokens > steps + 1) {
    return `A chain (top-k 1) of ${steps} steps cannot hold ${tokens} draft tokens: at most ${steps}.`;
  }
  const most = topk + (steps - 1) * topk * topk;
  return topk > 1 && tokens > most + 1
    ? `A tree of ${steps} steps with top-k ${topk} cannot hold ${tokens} draft tokens: at most ${most}.`
    : undefined;
}
