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
  'MatMulIntegerToFloat',
  'MatMulNBits',
  'QuickGelu',
  'RotaryEmbedding',
  'SkipSimplifiedLayerNormalization',
]);

/** A value that a loop hands from one iteration to the next. Dimensions with a name may differ from one to the next. */
export interface Carried {
  readonly initial: Value;
  readonly type: ElementType;
  readonly shape: readonly Dimension[];
}

/** One iteration of a loop, written once. */
export interface LoopBody<Name extends string> {
  readonly graph: GraphBuilder;
  readonly iteration: Value; // int64 scalar
  readonly carried: Readonly<Record<Name, Value>>;
}

export interface LoopResult<Name extends string> {
  /** A bool scalar: whether another iteration may follow. */
  readonly goOn: Value;
  readonly carried: Readonly<Record<Name, Value>>;
}

/** A graph and the bodies of its loops, which read its values, have their names in common. */
class Names {
  readonly outputs = new Map<Value, string>();
  used = 0;
}

/** A node whose attribute may be a graph that is finished together with the one around it. */
interface GraphNode extends Omit<OnnxNode, 'attributes'> {
  readonly attributes: Attributes;
  readonly body?: GraphBuilder;
}

/** Collects nodes, constants and weights of one ONNX graph. Values are named after the operator and a number. */
export class GraphBuilder {
  readonly #weights: WeightWriter;
  readonly #names: Names;
  readonly #nodes: GraphNode[] = [];
  readonly #initializers: Initializer[] = [];
  readonly #constants = new Map<string, Value>();
  readonly #inputs: ValueInfo[] = [];
  readonly #outputs: ValueInfo[] = [];

  constructor(weights: WeightWriter, names = new Names()) {
    this.#weights = weights;
    this.#names = names;
  }

  input(name: string, type: ElementType, shape: readonly Dimension[]): Value {
    this.#inputs.push({ name, type, shape });
    return name;
  }

  /** Declares `value` a graph output under the name `name`. */
  output(name: string, value: Value, type: ElementType, shape: readonly Dimension[]): void {
    this.#names.outputs.set(value, name);
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
    const names = Array.from({ length: outputs }, (_, i) => (unused.includes(i) ? '' : this.#newName(op)));
    const domain = contribOperators.has(op) ? 'com.microsoft' : '';
    this.#nodes.push({ op, domain, inputs, outputs: names, attributes });
    return names;
  }

  /**
   * Runs `body` at most `trips` times. What it reads of this graph is handed to it every time, which costs: weights that
   * only it reads are best added to its own graph.
   *
   * @param trips int64 scalar
   * @returns what the last iteration carried
   */
  async loop<Name extends string>(
    trips: Value,
    carried: Readonly<Record<Name, Carried>>,
    body: (iteration: LoopBody<Name>) => Promise<LoopResult<Name>>,
  ): Promise<Record<Name, Value>> {
    const graph = new GraphBuilder(this.#weights, this.#names);
    const names = Object.keys(carried) as Name[];
    const each = (value: (name: Name) => Value) =>
      Object.fromEntries(names.map((name) => [name, value(name)])) as Record<Name, Value>;
    const iteration = graph.input(this.#newName('iteration'), 'int64', []);
    graph.input(this.#newName('going_on'), 'bool', []);
    const before = each((name) => graph.input(this.#newName(name), carried[name].type, carried[name].shape));
    const after = await body({ graph, iteration, carried: before });
    graph.output(this.#newName('go_on'), after.goOn, 'bool', []);
    for (const name of names) {
      const { type, shape } = carried[name];
      const sizes = shape.map((size) => (typeof size === 'string' ? `next_${size}` : size));
      graph.output(this.#newName(`next_${name}`), after.carried[name], type, sizes);
    }
    const last = each((name) => this.#newName(`last_${name}`));
    this.#nodes.push({
      op: 'Loop',
      domain: '',
      inputs: [trips, '', ...names.map((name) => carried[name].initial)],
      outputs: names.map((name) => last[name]),
      attributes: {},
      body: graph,
    });
    return last;
  }

  /** A small int64 constant: a shape, split sizes. Equal ones are one. */
  ints(values: readonly number[]): Value {
    return this.#constant('int64', [values.length], new BigInt64Array(values.map(BigInt)));
  }

  /** An int64 scalar. Gathered with it, a dimension goes away. */
  index(value: number): Value {
    return this.#constant('int64', [], BigInt64Array.of(BigInt(value)));
  }

  floats(values: readonly number[]): Value {
    return this.#constant('float32', [values.length], new Float32Array(values));
  }

  bytes(values: readonly number[]): Value {
    return this.#constant('uint8', [values.length], new Uint8Array(values));
  }

  /** A constant without elements: what a loop starts to collect from. */
  empty(type: ElementType, shape: readonly number[]): Value {
    return this.#constant(type, shape, new Uint8Array(0));
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
    const rename = (value: Value) => this.#names.outputs.get(value) ?? value;
    const nodes = this.#nodes.map(({ body, ...node }) => ({
      ...node,
      inputs: node.inputs.map(rename),
      outputs: node.outputs.map(rename),
      ...(body && { attributes: { body: { graph: body.finish() } } }),
    }));
    return { nodes, initializers: this.#initializers, inputs: this.#inputs, outputs: this.#outputs };
  }

  #newName(kind: string): Value {
    return `${kind}_${this.#names.used++}`;
  }

  #constant(type: ElementType, shape: readonly number[], data: ArrayBufferView): Value {
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    const key = `${type}[${shape}]:${Buffer.from(bytes).toString('base64')}`;
    const known = this.#constants.get(key);
    if (known) return known;
    const name = this.#newName('constant');
    this.#constants.set(key, name);
    this.#initializers.push({ name, type, shape, data: bytes });
    return name;
  }
}
