import { corrupt, unsupported } from '../fileFault.ts';
import type { NamedTensor, StoredType } from '../storedTensor.ts';
import type { DenseTensors } from './head.ts';

const floatTypes: readonly StoredType[] = ['F32', 'F16', 'BF16'];

/** What says how large the tensors of a head have to be. */
export type SizeSource = 'config.json' | 'the model';

/** The tensors of a head by one spelling of their names, each checked where it is taken. */
export class HeadTensors {
  readonly #dir: string;
  readonly #tensors: ReadonlyMap<string, NamedTensor>;
  readonly #sizesFrom: SizeSource;

  constructor(dir: string, tensors: ReadonlyMap<string, NamedTensor>, sizesFrom: SizeSource) {
    this.#dir = dir;
    this.#tensors = tensors;
    this.#sizesFrom = sizesFrom;
  }

  has(name: string): boolean {
    return this.#tensors.has(name);
  }

  find(name: string): NamedTensor | undefined {
    return this.#tensors.get(name);
  }

  /** @throws SlipstreamError model.corrupt, model.unsupported, naming file and tensor */
  take(name: string, shape: readonly number[]): NamedTensor {
    const tensor = this.#tensors.get(name);
    if (!tensor) throw corrupt(this.#dir, `lacks the tensor ${name}; the download may be incomplete`);
    this.checkShape(tensor, shape);
    if (!floatTypes.includes(tensor.type)) {
      throw unsupported(
        tensor.file,
        `stores ${tensor.name} as ${tensor.type}; F32, F16 and BF16 can be read`,
      );
    }
    return tensor;
  }

  /** @throws SlipstreamError model.corrupt, naming file, tensor and both shapes */
  checkShape(tensor: NamedTensor, shape: readonly number[]): void {
    if (tensor.shape.length === shape.length && tensor.shape.every((size, i) => size === shape[i])) return;
    throw corrupt(
      tensor.file,
      `holds ${tensor.name} of shape [${tensor.shape}] where ${this.#sizesFrom} needs [${shape}]`,
    );
  }

  /** A weight, and the bias where there is one. */
  dense(name: string, outputs: number, inputs: number, bias: boolean): DenseTensors {
    return {
      weight: this.take(`${name}.weight`, [outputs, inputs]),
      bias: bias ? this.take(`${name}.bias`, [outputs]) : undefined,
    };
  }
}
