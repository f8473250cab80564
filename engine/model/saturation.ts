import { writeOnnxModel } from '../compile/onnxModel.ts';
import * as ort from './onnxruntime.ts';

const INPUTS = 64;
const OUTPUTS = 16;
const LARGEST_UNSIGNED = 255;
const LARGEST_SIGNED = 127;

let known: Promise<boolean> | undefined;

/**
 * Whether this processor's products of 8-bit integers lose what exceeds 16 bits half-way. x86 processors without VNNI
 * do (MLAS adds pairs with vpmaddubsw there), unless a session asks for exact products, which cost time on every
 * processor: so it is found out, once a process, by the one product that shows it.
 */
export function productsSaturate(): Promise<boolean> {
  known ??= process.arch === 'x64' ? largestProductIsWrong() : Promise.resolve(false);
  known.catch(() => {
    known = undefined; // whatever it was, the next session asks again
  });
  return known;
}

async function largestProductIsWrong(): Promise<boolean> {
  const model = writeOnnxModel({
    nodes: [{ op: 'MatMulInteger', domain: '', inputs: ['a', 'b'], outputs: ['y'], attributes: {} }],
    initializers: [],
    inputs: [
      { name: 'a', type: 'uint8', shape: [1, INPUTS] },
      { name: 'b', type: 'int8', shape: [INPUTS, OUTPUTS] },
    ],
    outputs: [{ name: 'y', type: 'int32', shape: [1, OUTPUTS] }],
  });
  const session = await ort.InferenceSession.create(model, { intraOpNumThreads: 1, logSeverityLevel: 3 });
  const a = new Uint8Array(INPUTS).fill(LARGEST_UNSIGNED);
  const b = new Int8Array(INPUTS * OUTPUTS).fill(LARGEST_SIGNED);
  try {
    const { y } = await session.run({
      a: new ort.Tensor('uint8', a, [1, INPUTS]),
      b: new ort.Tensor('int8', b, [INPUTS, OUTPUTS]),
    });
    return (y.data as Int32Array).some((sum) => sum !== INPUTS * LARGEST_UNSIGNED * LARGEST_SIGNED);
  } finally {
    await session.release();
  }
}
