/**
 * onnxruntime as everything here loads it: silent. From 1.29 on its Linux and macOS libraries record every session and
 * send that to their maker, unless this is set before the first one is made.
 */
process.env.ORT_DISABLE_TELEMETRY = '1';

export * from 'onnxruntime-node';
