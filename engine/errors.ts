/**
 * Faults are coded: the code decides what the extension shows and whether it retries, the message says
 * what happened and what to do, the cause keeps the original error for the log.
 * Expected outcomes (cancelled, nothing to suggest) are values and never pass through here.
 */
export type ErrorCode =
  | 'usage' // a bad option, setting or request: the caller's fault
  | 'model.notFound'
  | 'model.corrupt'
  | 'model.unsupported'
  | 'device.unavailable'
  | 'device.lost'
  | 'outOfMemory'
  | 'io'
  | 'internal';

export class SlipstreamError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'SlipstreamError';
    this.code = code;
  }
}

/** What a failed allocation is called by onnxruntime and by JavaScript. */
const allocationFailed =
  /bad_alloc|out of memory|failed to allocate|allocation failed|Invalid typed array length/i;

/** The fault that there was no memory, where that is what `cause` says. */
export function outOfMemoryFault(cause: unknown): SlipstreamError | undefined {
  const said = cause instanceof Error ? cause.message : String(cause);
  if (cause instanceof SlipstreamError || !allocationFailed.test(said)) return undefined;
  const message = 'There is not enough memory for this model; choose a smaller one.';
  return new SlipstreamError('outOfMemory', message, { cause });
}
