import { outOfMemoryFault, SlipstreamError } from '../errors.ts';

/** What onnxruntime says on the CPU, coded: no memory, or `otherwise`. */
export function cpuFault(
  cause: unknown,
  otherwise: (message: string) => { readonly code: 'model.corrupt' | 'internal'; readonly message: string },
): SlipstreamError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const { code, message } = otherwise(said);
  return outOfMemoryFault(cause) ?? new SlipstreamError(code, message, { cause });
}
