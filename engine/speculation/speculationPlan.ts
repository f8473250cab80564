import { join } from 'node:path';
import { type Checkpoint, exists, openCheckpoint } from '../compile/checkpoint.ts';
import type { Head, HeadKind } from '../compile/heads/head.ts';
import { findHeadKind, headForDraftModel, openHead } from '../compile/heads/openHead.ts';
import { predictionsOnly, type TargetOutputs } from '../compile/targetOutputs.ts';
import { SUCCESSORS } from '../draft/recycledSource.ts';
import { SlipstreamError } from '../errors.ts';
import type { SpeculationSettings } from '../protocol.ts';

/** What a trained drafter is made of. */
export type Trained =
  | { readonly kind: 'head'; readonly head: Head; readonly target: Checkpoint }
  | { readonly kind: 'draftModel'; readonly dir: string };

/** What drafts. A blend has all that needs no training, and a trained drafter where there is one that pays. */
export type Drafting =
  | { readonly kind: 'none' | 'ngram' | 'recycling' }
  | { readonly kind: 'trained'; readonly trained: Trained }
  | { readonly kind: 'blend'; readonly trained: Trained | undefined };

/** What an algorithm comes down to for one model: known before the model is loaded, because its graph depends on it. */
export interface SpeculationPlan {
  readonly settings: SpeculationSettings;
  readonly drafting: Drafting;
  /** What the target has to hand out. */
  readonly outputs: TargetOutputs;
  /** What the user should know about the choice, as a sentence. */
  readonly note?: string;
}

/** Where a model's own drafters are, below its folder. The first one found drafts for AUTO, where it pays. */
const headFolders = ['eagle3', 'eagle', 'medusa', 'draft'] as const;
type HeadFolder = (typeof headFolders)[number];

/**
 * Chooses what drafts for a model.
 *
 * @throws SlipstreamError usage when the algorithm needs a head that the model does not have; model.* for a bad model,
 *   or a bad head that was asked for
 */
export async function planSpeculation(
  settings: SpeculationSettings,
  modelDir: string,
): Promise<SpeculationPlan> {
  switch (settings.algorithm) {
    case 'none':
    case 'ngram':
      return { settings, drafting: { kind: settings.algorithm }, outputs: predictionsOnly };
    case 'recycle':
      return {
        settings,
        drafting: { kind: 'recycling' },
        outputs: { ...predictionsOnly, successors: SUCCESSORS },
      };
    case 'nextn':
      return planNextn(settings, modelDir);
    case 'eagle':
    case 'eagle2':
      return planTrained(settings, await openChosenHead(settings, modelDir, 'eagle'));
    case 'eagle3':
      return planTrained(settings, await openChosenHead(settings, modelDir, 'eagle3'));
    case 'medusa':
      return planTrained(settings, await openChosenHead(settings, modelDir, 'medusa'));
    case 'standalone':
      return planTrained(settings, await findDraftModel(await chosenFolder(settings, modelDir, 'draft')));
    case 'auto':
      return planBlend(settings, modelDir);
  }
}

async function planNextn(settings: SpeculationSettings, modelDir: string): Promise<SpeculationPlan> {
  if ((await findHeadKind(modelDir)) === 'mtp') {
    return planTrained(settings, await openHeadIn(modelDir, modelDir, ['mtp']));
  }
  const note = 'The model has no multi-token-prediction head, so NEXTN drafts as NGRAM does.';
  return { settings, drafting: { kind: 'ngram' }, outputs: predictionsOnly, note };
}

function planTrained(settings: SpeculationSettings, trained: Trained): SpeculationPlan {
  return {
    settings,
    drafting: { kind: 'trained', trained },
    outputs: { ...predictionsOnly, taps: tapsOf(trained) },
  };
}

/**
 * A trained drafter of the model's own helps the blend of a target with so many layers. For a shallower one it costs more
 * than it brings in beside the free drafts: a token that it drafts takes the time of one or two layers and an output, and
 * the target has to hand out its hidden states in every pass (docs/decisions/0030).
 */
const FEWEST_LAYERS = 16;

/** A head of the model's own that cannot be used, or does not pay, is left out: nobody asked for it. */
async function planBlend(settings: SpeculationSettings, modelDir: string): Promise<SpeculationPlan> {
  if (settings.draftModel !== undefined) {
    return planBlendWith(settings, await openAny(settings.draftModel, modelDir));
  }
  const { architecture } = await openCheckpoint(modelDir);
  if (architecture.layers < FEWEST_LAYERS) return planBlendWith(settings, undefined);
  try {
    return planBlendWith(settings, await ownTrained(modelDir));
  } catch (error) {
    if (!(error instanceof SlipstreamError)) throw error;
    return { ...planBlendWith(settings, undefined), note: `${error.message} AUTO drafts without it.` };
  }
}

function planBlendWith(settings: SpeculationSettings, trained: Trained | undefined): SpeculationPlan {
  const isShaped = settings.numSteps !== undefined || settings.eagleTopk !== undefined;
  return {
    settings,
    drafting: { kind: 'blend', trained },
    outputs: { taps: trained ? tapsOf(trained) : [], successors: SUCCESSORS },
    ...(isShaped && !trained && { note: noStepsToTake }),
  };
}

const noStepsToTake =
  'AUTO drafts without a trained drafter here, so the number of steps and top-k have no effect; naming one (the draft model) makes it take part.';

async function ownTrained(modelDir: string): Promise<Trained | undefined> {
  if ((await findHeadKind(modelDir)) === 'mtp') return openHeadIn(modelDir, modelDir, ['mtp']);
  for (const name of headFolders) {
    const dir = join(modelDir, 'heads', name);
    if (!(await exists(dir))) continue;
    return name === 'draft' ? findDraftModel(dir) : openHeadIn(dir, modelDir, [name]);
  }
  return undefined;
}

async function openAny(dir: string, modelDir: string): Promise<Trained> {
  return (await findHeadKind(dir)) === undefined
    ? findDraftModel(dir)
    : openHeadIn(dir, modelDir, ['eagle', 'eagle3', 'mtp', 'medusa']);
}

async function openChosenHead(
  settings: SpeculationSettings,
  modelDir: string,
  kind: 'eagle' | 'eagle3' | 'medusa',
) {
  return openHeadIn(await chosenFolder(settings, modelDir, kind), modelDir, [kind]);
}

/** It is looked at before the target is loaded, so that a folder of something else is refused at once. */
async function findDraftModel(dir: string): Promise<Trained> {
  try {
    await openCheckpoint(dir);
  } catch (error) {
    throw (await headForDraftModel(dir)) ?? error;
  }
  return { kind: 'draftModel', dir };
}

async function openHeadIn(dir: string, modelDir: string, kinds: readonly HeadKind[]): Promise<Trained> {
  const target = await openCheckpoint(modelDir);
  return { kind: 'head', head: await openHead(dir, target.architecture, kinds), target };
}

async function chosenFolder(
  { algorithm, draftModel }: SpeculationSettings,
  modelDir: string,
  name: HeadFolder,
): Promise<string> {
  if (draftModel !== undefined) return draftModel;
  const own = join(modelDir, 'heads', name);
  if (await exists(own)) return own;
  throw new SlipstreamError(
    'usage',
    `The model has no drafter for ${algorithm.toUpperCase()}: put one into ${own}, or give its folder (--speculative-draft-model-path, slipstream.speculative.draftModel).`,
  );
}

function tapsOf(trained: Trained): readonly number[] {
  return trained.kind === 'head' ? trained.head.taps : [];
}
