import { ProtobufWriter } from './protobuf.ts';

/** Element types as onnx.proto's TensorProto.DataType numbers them. */
export const onnxType = {
  float64: 11,
  float32: 1,
  uint8: 2,
  int8: 3,
  int32: 6,
  int64: 7,
  bool: 9,
  float16: 10,
} as const;
export type ElementType = keyof typeof onnxType;

/** A dimension: a number, or the name of one that varies from run to run. */
export type Dimension = number | string;

export interface ValueInfo {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly Dimension[];
}

export type AttributeValue =
  | number
  | string
  | readonly number[]
  | { readonly float: number }
  /** The body of a Loop. It reads values of the graph around it by name. */
  | { readonly graph: OnnxGraph };

export interface OnnxNode {
  readonly op: string;
  readonly domain: '' | 'com.microsoft';
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  readonly attributes: Readonly<Record<string, AttributeValue>>;
}

/** A constant: small ones inline, weights as a range of the file of external data. */
export interface Initializer {
  readonly name: string;
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly data: Uint8Array | { readonly file: string; readonly offset: number; readonly length: number };
}

export interface OnnxGraph {
  readonly nodes: readonly OnnxNode[];
  readonly initializers: readonly Initializer[];
  readonly inputs: readonly ValueInfo[];
  readonly outputs: readonly ValueInfo[];
}

// IR 10 and opset 21 are what onnxruntime 1.30 reads without conversion.
const IR_VERSION = 10;
const OPSET = 21;

/** Serialises a graph as an ONNX ModelProto (field numbers: onnx/onnx.proto). */
export function writeOnnxModel(graph: OnnxGraph): Uint8Array {
  const model = new ProtobufWriter();
  model.int(1, IR_VERSION).string(2, 'slipstream');
  model.message(7, (writer) => writeGraph(writer, graph));
  model.message(8, (opset) => opset.string(1, '').int(2, OPSET));
  model.message(8, (opset) => opset.string(1, 'com.microsoft').int(2, 1));
  return model.finish();
}

function writeGraph(writer: ProtobufWriter, graph: OnnxGraph): void {
  for (const node of graph.nodes) writer.message(1, (w) => writeNode(w, node));
  writer.string(2, 'slipstream');
  for (const initializer of graph.initializers) writer.message(5, (w) => writeTensor(w, initializer));
  for (const input of graph.inputs) writer.message(11, (w) => writeValueInfo(w, input));
  for (const output of graph.outputs) writer.message(12, (w) => writeValueInfo(w, output));
}

function writeNode(writer: ProtobufWriter, node: OnnxNode): void {
  for (const input of node.inputs) writer.string(1, input);
  for (const output of node.outputs) writer.string(2, output);
  // Named after its first output, so that a runtime's message about a node says where it is.
  writer.string(3, node.outputs.find((output) => output !== '') ?? node.op).string(4, node.op);
  for (const [name, value] of Object.entries(node.attributes)) {
    writer.message(5, (attribute) => writeAttribute(attribute, name, value));
  }
  writer.string(7, node.domain);
}

function writeAttribute(writer: ProtobufWriter, name: string, value: AttributeValue): void {
  writer.string(1, name);
  if (typeof value === 'number') writer.int(3, value).int(20, 2);
  else if (typeof value === 'string') writer.string(4, value).int(20, 3);
  else if ('float' in value) writer.float(2, value.float).int(20, 1);
  else if ('graph' in value) writer.message(6, (graph) => writeGraph(graph, value.graph)).int(20, 5);
  else {
    for (const item of value) writer.int(8, item);
    writer.int(20, 7);
  }
}

function writeTensor(writer: ProtobufWriter, { name, type, shape, data }: Initializer): void {
  for (const dimension of shape) writer.int(1, dimension);
  writer.int(2, onnxType[type]).string(8, name);
  if (data instanceof Uint8Array) {
    writer.bytes(9, data);
    return;
  }
  const location = { location: data.file, offset: data.offset, length: data.length };
  for (const [key, value] of Object.entries(location)) {
    writer.message(13, (entry) => entry.string(1, key).string(2, String(value)));
  }
  writer.int(14, 1);
}

function writeValueInfo(writer: ProtobufWriter, { name, type, shape }: ValueInfo): void {
  writer.string(1, name).message(2, (typeProto) =>
    typeProto.message(1, (tensor) => {
      tensor.int(1, onnxType[type]).message(2, (shapeProto) => {
        for (const dimension of shape) {
          shapeProto.message(1, (dim) =>
            typeof dimension === 'number' ? dim.int(1, dimension) : dim.string(2, dimension),
          );
        }
      });
    }),
  );
}
