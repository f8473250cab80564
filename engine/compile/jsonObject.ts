import { SlipstreamError } from '../errors.ts';

/**
 * A JSON file of a model, whether or not it begins with a byte order mark, as editors on Windows write it.
 *
 * @throws SlipstreamError model.corrupt, naming the file
 */
export function parseJsonObject(bytes: Uint8Array, file: string): Readonly<Record<string, unknown>> {
  const value = parse(new TextDecoder().decode(bytes), file);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) {
    return value as Readonly<Record<string, unknown>>;
  }
  throw new SlipstreamError('model.corrupt', `${file} is not a JSON object. Download the file again.`);
}

function parse(text: string, file: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new SlipstreamError(
      'model.corrupt',
      `${file} is not valid JSON (${(cause as Error).message}). Download the file again.`,
      { cause },
    );
  }
}
