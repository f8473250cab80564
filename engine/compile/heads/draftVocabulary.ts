import { corrupt, unsupported } from '../fileFault.ts';
import { type NamedTensor, readBytes } from '../storedTensor.ts';
import type { HeadTensors } from './headTensors.ts';

/**
 * The target's ids of a draft vocabulary's tokens: target id = draft id + d2t[draft id].
 *
 * @returns [draftSize], ascending; undefined when the draft vocabulary is the target's
 * @throws SlipstreamError model.corrupt, model.unsupported, naming the file
 */
export async function readTargetIds(
  dir: string,
  tensors: HeadTensors,
  draftSize: number,
  targetSize: number,
): Promise<Int32Array | undefined> {
  const offsets = tensors.find('d2t');
  if (!offsets) {
    if (draftSize === targetSize) return undefined;
    throw corrupt(dir, `lacks the tensor d2t: what its ${draftSize} draft tokens are is not known`);
  }
  tensors.checkShape(offsets, [draftSize]);
  checkType(offsets, 'I64');
  const mask = tensors.find('t2d');
  if (mask) tensors.checkShape(mask, [targetSize]);
  const ids = targetIds(await readBytes(offsets), offsets, targetSize);
  if (mask) await checkMask(mask, ids);
  return draftSize === targetSize ? undefined : ids;
}

function checkType(tensor: NamedTensor, type: 'I64' | 'BOOL'): void {
  if (tensor.type === type) return;
  throw unsupported(tensor.file, `stores ${tensor.name} as ${tensor.type}; it should be ${type}`);
}

function targetIds(bytes: Uint8Array, { file, name }: NamedTensor, targetSize: number): Int32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const ids = new Int32Array(bytes.byteLength / 8);
  let last = -1;
  for (let draft = 0; draft < ids.length; draft++) {
    const id = draft + Number(view.getBigInt64(8 * draft, true));
    if (id < 0 || id >= targetSize) {
      throw corrupt(
        file,
        `maps draft token ${draft} to ${id} in ${name}, which is no token of a vocabulary of ${targetSize}`,
      );
    }
    if (id <= last)
      throw corrupt(file, `maps draft tokens ${draft - 1} and ${draft} out of order in ${name}`);
    last = id;
    ids[draft] = id;
  }
  return ids;
}

async function checkMask(mask: NamedTensor, ids: Int32Array): Promise<void> {
  checkType(mask, 'BOOL');
  const bytes = await readBytes(mask);
  const marked = bytes.reduce((sum, byte) => sum + Math.min(byte, 1), 0);
  if (marked !== ids.length || ids.some((id) => bytes[id] === 0)) {
    throw corrupt(mask.file, `has a d2t and a ${mask.name} that name different draft tokens`);
  }
}
