import { SlipstreamError } from '../errors.ts';

/** `what` completes "<file> ...": "is not a zip archive". */
export function corrupt(file: string, what: string, cause?: unknown): SlipstreamError {
  return new SlipstreamError('model.corrupt', `${file} ${what}.`, { cause });
}

export function unsupported(file: string, what: string): SlipstreamError {
  return new SlipstreamError('model.unsupported', `${file} ${what}.`);
}

/** The disk or the share that a file is on, or who may read it. */
export function unreadable(file: string, cause: Error): SlipstreamError {
  return new SlipstreamError('io', `${file}: cannot be read (${cause.message}).`, { cause });
}
