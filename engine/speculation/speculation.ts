import type { Precision } from '../compile/precision.ts';
import { CostModel } from '../cost/costModel.ts';
import { DraftTemperature } from '../cost/draftTemperature.ts';
import { CostController, type DraftController, fixedController } from '../decode/controller.ts';
import { BlendDrafter, type LearnedPart } from '../draft/blend.ts';
import type { Drafter } from '../draft/drafter.ts';
import { DraftModelDrafter, draftModelOutputs } from '../draft/draftModel.ts';
import { checkDraftVocabulary } from '../draft/draftModelVocabulary.ts';
import { DrawnDraftModelDrafter, drawnDraftModelOutputs } from '../draft/drawnDraftModel.ts';
import { EagleDrafter } from '../draft/eagle.ts';
import { EagleDepth } from '../draft/eagleDepth.ts';
import type { LastSuggestion } from '../draft/lastSuggestion.ts';
import { MedusaDrafter } from '../draft/medusa.ts';
import { NgramDrafter } from '../draft/ngram.ts';
import type { NgramParts, WorkspaceText } from '../draft/ngramSources.ts';
import { RecyclingDrafter } from '../draft/recycling.ts';
import type { CostTable } from '../model/costTable.ts';
import { DraftHead } from '../model/draftHead.ts';
import type { LanguageModel } from '../model/languageModel.ts';
import { MedusaHeads } from '../model/medusaHeads.ts';
import { openModel } from '../model/openModel.ts';
import type { Tokenizer } from '../model/tokenizer.ts';
import type { SpeculationSettings } from '../protocol.ts';
import type { SamplingSettings } from '../sampling/samplingSettings.ts';
import type { DraftSource } from '../tree/tokenTree.ts';
import type { SpeculationPlan, Trained } from './speculationPlan.ts';

/** The loaded model that is drafted for. */
export interface Target {
  readonly model: LanguageModel;
  readonly costTable: CostTable;
  /** Absent for a model folder without one, which takes token ids only. */
  readonly tokenizer?: Tokenizer | undefined;
}

export interface SpeculationParts {
  readonly target: Target;
  readonly workspace?: WorkspaceText | undefined;
  readonly lastSuggestion?: LastSuggestion | undefined;
  /** A draft model draws its drafts like this, instead of taking the most probable tokens. */
  readonly draftSampling?: SamplingSettings | undefined;
  readonly cacheDir: string;
  readonly threads: number;
  readonly log: (level: 'info' | 'warn', message: string) => void;
}

/** What drafts for a target, and how much of it is verified. */
export interface Speculation {
  readonly drafter: Drafter | undefined;
  readonly controller: DraftController;
  /** Call it when nothing is being decoded any more. */
  dispose(): Promise<void>;
}

/**
 * Loads what a plan needs beside its target.
 *
 * @throws SlipstreamError model.*, usage, outOfMemory, io
 */
export async function openSpeculation(plan: SpeculationPlan, parts: SpeculationParts): Promise<Speculation> {
  const costs = new CostModel(parts.target.costTable);
  // What n-grams and blends say was learned from what the target accepted.
  const temperature = plan.drafting.kind === 'trained' ? new DraftTemperature() : undefined;
  const { drafter, dispose } = await openDrafter(plan, parts, { costs, temperature });
  const { numDraftTokens } = plan.settings;
  const controller =
    numDraftTokens === undefined ? new CostController(costs, temperature) : fixedController(numDraftTokens);
  return {
    drafter,
    controller,
    dispose: async () => {
      drafter?.dispose();
      await dispose();
    },
  };
}

/** What a draft is worth: shared with the controller. */
interface DraftWorth {
  readonly costs: CostModel;
  /** Of a trained drafter that drafts alone. */
  readonly temperature: DraftTemperature | undefined;
}

interface OpenedDrafter {
  readonly drafter: Drafter | undefined;
  /** Gives back what was loaded for it. */
  readonly dispose: () => Promise<void>;
}

async function openDrafter(
  plan: SpeculationPlan,
  parts: SpeculationParts,
  worth: DraftWorth,
): Promise<OpenedDrafter> {
  const { drafting, settings } = plan;
  switch (drafting.kind) {
    case 'none':
      return { drafter: undefined, dispose: nothing };
    case 'ngram':
      return { drafter: new NgramDrafter(ngramParts(parts)), dispose: nothing };
    case 'recycling':
      return { drafter: new RecyclingDrafter(parts.target.model.info.vocabSize), dispose: nothing };
    case 'trained':
      return openTrained(drafting.trained, settings, parts, worth);
    case 'blend':
      return openBlend(drafting.trained, settings, parts, worth.costs);
  }
}

const nothing = async () => {};

function ngramParts({ target, workspace, lastSuggestion }: SpeculationParts): NgramParts {
  const { info } = target.model;
  const specialTokenIds = target.tokenizer?.specialTokenIds ?? new Set(info.eosTokenIds);
  return { vocabSize: info.vocabSize, specialTokenIds, workspace, lastSuggestion };
}

async function openBlend(
  trained: Trained | undefined,
  settings: SpeculationSettings,
  parts: SpeculationParts,
  costs: CostModel,
): Promise<OpenedDrafter> {
  const ngram = ngramParts(parts);
  if (!trained) return { drafter: new BlendDrafter({ ngram, costs }), dispose: nothing };
  const { learned, dispose } = await openLearnedPart(trained, settings, parts);
  return { drafter: new BlendDrafter({ ngram, learned, costs }), dispose };
}

/**
 * Loads the trained drafter of a blend. Its tokens stand beside chosen ones: they are chosen too, not drawn.
 *
 * @throws SlipstreamError model.*, usage, outOfMemory, io
 */
export async function openLearnedPart(
  trained: Trained,
  settings: SpeculationSettings,
  parts: SpeculationParts,
): Promise<{ learned: LearnedPart; dispose: () => Promise<void> }> {
  const { drafter, dispose } = await openTrained(trained, settings, { ...parts, draftSampling: undefined });
  const source = trained.kind === 'draftModel' ? 'draftModel' : trained.head.kind;
  return { learned: { drafter, source, nodesPerLevel: nodesPerLevel(source, settings) }, dispose };
}

/** What a trained drafter is given for each level: heads that run once for each draft chains unless told otherwise. */
function nodesPerLevel(source: DraftSource, { eagleTopk }: SpeculationSettings): number {
  const width = source === 'medusa' || source === 'draftModel' ? 4 : 1;
  return eagleTopk ?? width;
}

async function openTrained(
  trained: Trained,
  settings: SpeculationSettings,
  parts: SpeculationParts,
  /** For a drafter that decides by itself how deep to draft. */
  worth?: DraftWorth,
): Promise<{ drafter: Drafter; dispose: () => Promise<void> }> {
  if (trained.kind === 'draftModel') return openDraftModel(trained.dir, settings, parts, worth?.temperature);
  const { head, target } = trained;
  const { cacheDir, threads, log } = parts;
  const options = { precision: headPrecision(parts.target), cacheDir, threads, log };
  if (head.kind === 'medusa') {
    const heads = await MedusaHeads.open(head, target, { ...options, heads: settings.numSteps });
    const drafter = new MedusaDrafter(heads, { ...treeOptions(settings), tree: settings.medusaTree });
    return { drafter, dispose: () => heads.dispose() };
  }
  const expansion = settings.algorithm === 'eagle' ? 'given' : 'mostProbable';
  const loaded = await DraftHead.open(head, target, { ...options, expansion });
  return {
    drafter: new EagleDrafter(loaded, { ...treeOptions(settings), depth: eagleDepth(worth) }),
    dispose: () => loaded.dispose(),
  };
}

function eagleDepth(worth: DraftWorth | undefined): EagleDepth | undefined {
  return worth?.temperature && new EagleDepth(worth.costs, worth.temperature);
}

async function openDraftModel(
  dir: string,
  settings: SpeculationSettings,
  parts: SpeculationParts,
  temperature: DraftTemperature | undefined,
) {
  const { target, draftSampling: sampling, cacheDir, threads, log } = parts;
  const outputs = sampling ? drawnDraftModelOutputs : draftModelOutputs({ topk: settings.eagleTopk });
  const { model, costTable } = await openModel(dir, {
    device: target.model.info.device === 'cpu' ? 'cpu' : 'auto',
    precision: headPrecision(target),
    // What is drawn becomes text: with a seed it is the same whatever was evaluated together.
    rows: sampling ? 'several' : 'one',
    cacheDir,
    threads,
    log,
    ...outputs,
  });
  try {
    const { vocabSize, contextLength } = target.model.info;
    const { tokenizer } = target;
    await checkDraftVocabulary({ tokenizer, vocabSize }, { dir, vocabSize: model.info.vocabSize });
    const costs = { draft: costTable, target: target.costTable };
    const loaded = { model, costs, target: { vocabSize, contextLength } };
    const drafter = sampling
      ? new DrawnDraftModelDrafter(loaded, { sampling, numSteps: settings.numSteps })
      : new DraftModelDrafter(loaded, { ...treeOptions(settings), temperature });
    return { drafter, dispose: () => model.dispose() };
  } catch (error) {
    await model.dispose();
    throw error;
  }
}

function treeOptions({ numSteps, eagleTopk, numDraftTokens }: SpeculationSettings) {
  return { numSteps, topk: eagleTopk, numDraftTokens };
}

/** What drafts need not be as exact as what they are checked against; only a reference stays one. */
function headPrecision({ model }: Target): Precision {
  return model.info.precision === 'fp32' ? 'fp32' : 'int8';
}
