import { SlipstreamError } from '../errors.ts';

/** What onnxruntime says on the CPU, coded: no memory, or `otherwise`. */
export function cpuFault(
  cause: unknown,
  otherwise: (message: string) => { readonly code: 'model.corrupt' | 'internal'; readonly message: string },
): SlipstreamError {
  const said = cause instanceof Error ? cause.message : String(cause);
  if (/bad_alloc|out of memory|failed to allocate|allocation failed/i.test(said)) {
    const message = 'There is not enough memory for this model; choose a smaller one.';
    return new SlipstreamError('outOfMemory', message, { cause });
  }
  const { code, message } = otherwise(said);
  return new SlipstreamError(code, message, { cause });
}
