/**
 * onnxruntime-node 1.30 reads float16 tensors from a Uint16Array only, but its JavaScript half wraps that in a
 * Float16Array where the language has one (Node 24, recent Electron), which its native half takes for empty. Without the
 * global, bits stay bits. Nothing else in this process uses it. To be imported where float16 tensors are made.
 */
Reflect.deleteProperty(globalThis, 'Float16Array');
