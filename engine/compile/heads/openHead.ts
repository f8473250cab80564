import { SlipstreamError } from '../../errors.ts';
import type { Architecture } from '../architecture.ts';
import { readEagle } from './eagle.ts';
import { readEagle3 } from './eagle3.ts';
import type { Head, HeadKind } from './head.ts';
import { type HeadFiles, readHeadFiles } from './headFiles.ts';
import { HEAD_LAYER } from './headLayer.ts';
import { holdsMedusa, readMedusa } from './medusa.ts';
import { holdsMtp, readMtp } from './mtp.ts';
import { spellAlike } from './spelling.ts';

const readers = { eagle: readEagle, eagle3: readEagle3, mtp: readMtp, medusa: readMedusa };

/** What a folder may hold that drafts. */
type DrafterKind = HeadKind | 'model';

/** How people are told of a kind, and what the command line calls the algorithm that drafts with such a folder. */
const kinds: Readonly<Record<DrafterKind, { readonly name: string; readonly algorithm: string }>> = {
  eagle: { name: 'an EAGLE head', algorithm: 'EAGLE or EAGLE2' },
  eagle3: { name: 'an EAGLE-3 head', algorithm: 'EAGLE3' },
  medusa: { name: 'Medusa heads', algorithm: 'MEDUSA' },
  // It drafts for the model that it is part of (NEXTN); from a folder, that model drafts for another one.
  mtp: { name: 'a complete model with a multi-token-prediction head', algorithm: 'STANDALONE' },
  model: { name: 'a complete model', algorithm: 'STANDALONE' },
};

/**
 * Reads the head in a folder and checks it against the model that it drafts for. A multi-token-prediction head is in the
 * model's own folder.
 *
 * @param expected the kinds that the chosen algorithm drafts with
 * @throws SlipstreamError usage when it is a head of another kind; model.notFound, model.corrupt, model.unsupported. No
 *   weights have been loaded by then.
 */
export async function openHead(
  dir: string,
  target: Architecture,
  expected: readonly HeadKind[] = ['eagle', 'eagle3', 'mtp', 'medusa'],
): Promise<Head> {
  const files = await readHeadFiles(dir);
  const kind = kindOf(files);
  if (!kind) throw notAHead(files, expected);
  if (!expected.includes(kind)) throw anotherKind(dir, kind, expected);
  return readers[kind](files, target);
}

/**
 * The kind of the head in a folder; undefined when it holds weights of something else, such as a model without a
 * multi-token-prediction layer.
 *
 * @throws SlipstreamError model.notFound, model.corrupt, model.unsupported
 */
export async function findHeadKind(dir: string): Promise<HeadKind | undefined> {
  return kindOf(await readHeadFiles(dir));
}

/**
 * Why a folder that cannot be opened as a model is no draft model: a head is in it. Undefined when there is none either.
 */
export async function headForDraftModel(dir: string): Promise<SlipstreamError | undefined> {
  try {
    const kind = await findHeadKind(dir);
    // The head of a model is beside that model: what is wrong is in the model.
    return kind === undefined || kind === 'mtp' ? undefined : anotherKind(dir, kind, ['model']);
  } catch (error) {
    if (error instanceof SlipstreamError) return undefined;
    throw error;
  }
}

/** By what the files hold: the same class name stands in the configs of EAGLE-1 and EAGLE-3, and of models. */
function kindOf({ dir, config, tensors }: HeadFiles): HeadKind | undefined {
  if (holdsMtp(tensors.keys())) return 'mtp';
  if (holdsMedusa(tensors.keys())) return 'medusa';
  const type = config.string('speculators_model_type', 'eagle');
  if (type !== 'eagle' && type !== 'eagle3') {
    throw config.unsupported(`"speculators_model_type" is ${type}; eagle and eagle3 are supported`);
  }
  const alike = spellAlike(dir, tensors);
  if (!alike.has('fc.weight')) return undefined;
  return alike.has(`${HEAD_LAYER}.hidden_norm.weight`) ? 'eagle3' : 'eagle';
}

function notAHead({ dir, tensors }: HeadFiles, expected: readonly HeadKind[]): SlipstreamError {
  if (tensors.has('model.embed_tokens.weight')) return anotherKind(dir, 'model', expected);
  return new SlipstreamError(
    'model.unsupported',
    `${dir} is not a speculative head: its weights are of something else.`,
  );
}

function anotherKind(dir: string, kind: DrafterKind, expected: readonly DrafterKind[]): SlipstreamError {
  const { name, algorithm } = kinds[kind];
  const wanted = expected.map((other) => kinds[other].name).join(' or ');
  return new SlipstreamError(
    'usage',
    `${dir} holds ${name}, not ${wanted}: choose the algorithm ${algorithm} (--speculative-algorithm, slipstream.speculative.algorithm), or another folder.`,
  );
}
