import { toFloat16 } from './floats.ts';
import type {
  AttributeValue,
  Dimension,
  ElementType,
  Initializer,
  OnnxGraph,
  OnnxNode,
  ValueInfo,
} from './onnxModel.ts';
import type { WeightWriter } from './weightWriter.ts';

export type Attributes = Readonly<Record<string, AttributeValue>>;

/** What a graph can compute in. */
export type FloatType = 'float32' | 'float16';

/** The name of a value in the graph. */
export type Value = string;

/** Operators that onnxruntime defines beside the standard ones. */
const contribOperators = new Set([
  'FusedMatMul',
  'GatherBlockQuantized',
  'GroupQueryAttention',
  'MatMulNBits',
  'QuickGelu',
  'RotaryEmbedding',
  'SkipSimplifiedLayerNormalization',
]);

/** Collects nodes, constants and weights of one ONNX graph. Values are named after the operator and a number. */
export class GraphBuilder {
  readonly #weights: WeightWriter;
  readonly #nodes: OnnxNode[] = [];
  readonly #initializers: Initializer[] = [];
  readonly #inputs: ValueInfo[] = [];
  readonly #outputs: ValueInfo[] = [];
  readonly #constants = new Map<string, Value>();
  readonly #outputNames = new Map<Value, string>();
  #named = 0;

  constructor(weights: WeightWriter) {
    this.#weights = weights;
  }

  input(name: string, type: ElementType, shape: readonly Dimension[]): Value {
    this.#inputs.push({ name, type, shape });
    return name;
  }

  /** Declares `value` a graph output under the name `name`. */
  output(name: string, value: Value, type: ElementType, shape: readonly Dimension[]): void {
    this.#outputNames.set(value, name);
    this.#outputs.push({ name, type, shape });
  }

  /** A node with one output. */
  op(op: string, inputs: readonly Value[], attributes: Attributes = {}): Value {
    return this.ops(op, inputs, 1, attributes)[0];
  }

  /** A node with `outputs` outputs; the `unused` ones among them are left out. */
  ops(
    op: string,
    inputs: readonly Value[],
    outputs: number,
    attributes: Attributes = {},
    unused: readonly number[] = [],
  ): Value[] {
    const names = Array.from({ length: outputs }, (_, i) =>
      unused.includes(i) ? '' : `${op}_${this.#named++}`,
    );
    const domain = contribOperators.has(op) ? 'com.microsoft' : '';
    this.#nodes.push({ op, domain, inputs, outputs: names, attributes });
    return names;
  }

  /** A small int64 constant: a shape, split sizes. Equal ones are one. */
  ints(values: readonly number[]): Value {
    return this.#constant('int64', [values.length], new BigInt64Array(values.map(BigInt)));
  }

  floats(values: readonly number[]): Value {
    return this.#constant('float32', [values.length], new Float32Array(values));
  }

  /** A constant in the file of external data. */
  async weight(
    name: string,
    type: ElementType,
    shape: readonly number[],
    data: ArrayBufferView,
  ): Promise<Value> {
    this.#initializers.push({ name, type, shape, data: await this.#weights.append(data) });
    return name;
  }

  floatWeight(name: string, type: FloatType, shape: readonly number[], data: Float32Array): Promise<Value> {
    return this.weight(name, type, shape, type === 'float32' ? data : toFloat16(data));
  }

  finish(): OnnxGraph {
    // A value that is an output bears the output's name everywhere: no node only to rename it.
    const rename = (value: Value) => this.#outputNames.get(value) ?? value;
    const nodes = this.#nodes.map((node) => ({
      ...node,
      inputs: node.inputs.map(rename),
      outputs: node.outputs.map(rename),
    }));
    return {
      nodes,
      initializers: this.#initializers,
      inputs: this.#inputs,
      outputs: this.#outputs,
    };
  }

  #constant(type: ElementType, shape: readonly number[], data: ArrayBufferView): Value {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const key = `${type}:${Buffer.from(bytes).toString('base64')}`;
    const known = this.#constants.get(key);
    if (known) return known;
    const name = `constant_${this.#constants.size}`;
    this.#constants.set(key, name);
    this.#initializers.push({ name, type, shape, data: bytes });
    return name;
  }
}
