import type { Architecture } from '../architecture.ts';
import type { ConfigReader } from '../config.ts';
import { corrupt, unsupported } from '../fileFault.ts';

/**
 * The residual streams of the target that an EAGLE-3 head reads, as DecoderGraphOptions.taps.
 *
 * There are two ways to count, in the same field. SafeAILab, speculators and vLLM name a stream by the layer it enters, as
 * we do, and start at 2; SpecForge names it by the layer it leaves, and starts at 1 with the same stream. So ids that start
 * at 1 are raised by one, as in SGLang (sgl-project/sglang#25454). A head that is read off by one drafts almost nothing right.
 *
 * @throws SlipstreamError model.corrupt, model.unsupported
 */
export function parseTaps(dir: string, config: ConfigReader, target: Architecture): readonly number[] {
  const ids = storedIds(config) ?? [2, Math.floor(target.layers / 2), target.layers - 3];
  const taps = ids[0] === 1 ? ids.map((id) => id + 1) : ids;
  for (const tap of taps) {
    if (tap < 0 || tap > target.layers) {
      throw unsupported(
        dir,
        `reads the model at layers ${ids.join(', ')}, and this model has ${target.layers}; choose a head that was trained for it`,
      );
    }
  }
  return taps;
}

function storedIds(config: ConfigReader): readonly number[] | undefined {
  const nested = config.object('eagle_config');
  if (nested && !nested.boolean('use_aux_hidden_state', true)) {
    throw nested.unsupported('heads without "use_aux_hidden_state" are not supported');
  }
  const field = 'eagle_aux_hidden_state_layer_ids';
  const ids = nested?.raw(field) ?? config.raw(field);
  if (ids === undefined) return undefined;
  if (!Array.isArray(ids) || ids.length === 0 || !ids.every((id) => Number.isSafeInteger(id))) {
    throw corrupt(config.file, `has no list of layers in "${field}"`);
  }
  return ids;
}
