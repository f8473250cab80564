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

/** What the command line calls the algorithm of a kind. */
const algorithms: Readonly<Record<HeadKind, string>> = {
  eagle: 'EAGLE',
  eagle3: 'EAGLE3',
  mtp: 'NEXTN',
  medusa: 'MEDUSA',
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
  if (!kind) throw notAHead(files);
  if (!expected.includes(kind)) {
    const wanted = expected.map((other) => algorithms[other]).join(' or ');
    throw new SlipstreamError(
      'usage',
      `${dir} is a head for the algorithm ${algorithms[kind]}, not for ${wanted}: use --speculative-algorithm ${algorithms[kind]}, or another head.`,
    );
  }
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

function notAHead({ dir, tensors }: HeadFiles): SlipstreamError {
  const what = tensors.has('model.embed_tokens.weight')
    ? 'it is a complete model, which drafts with --speculative-algorithm STANDALONE'
    : 'its weights are of something else';
  return new SlipstreamError('model.unsupported', `${dir} is not a speculative head: ${what}.`);
}
