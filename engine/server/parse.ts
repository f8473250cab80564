import { SlipstreamError } from '../errors.ts';

/**
 * Parsers for what arrives from outside. Each takes a value of unknown type and where it was found, and
 * returns it typed or throws a SlipstreamError `usage` that names the place.
 */
export type Parse<T> = (value: unknown, at: string) => T;

export const string: Parse<string> = (value, at) =>
  typeof value === 'string' ? value : fail(at, 'a string', value);

export const boolean: Parse<boolean> = (value, at) =>
  typeof value === 'boolean' ? value : fail(at, 'true or false', value);

export function integer(min: number, max = Number.MAX_SAFE_INTEGER): Parse<number> {
  return (value, at) =>
    Number.isSafeInteger(value) && (value as number) >= min && (value as number) <= max
      ? (value as number)
      : fail(at, `an integer from ${min} to ${max}`, value);
}

export function oneOf<const T extends string>(...choices: readonly T[]): Parse<T> {
  return (value, at) =>
    choices.includes(value as T) ? (value as T) : fail(at, `one of ${choices.join(', ')}`, value);
}

export function array<T>(item: Parse<T>): Parse<readonly T[]> {
  return (value, at) =>
    Array.isArray(value) ? value.map((entry, i) => item(entry, `${at}[${i}]`)) : fail(at, 'an array', value);
}

/** Marks a property that may be absent. */
export function optional<T>(parse: Parse<T>): Parse<T | undefined> {
  return (value, at) => (value === undefined || value === null ? undefined : parse(value, at));
}

/** Unknown properties are dropped, absent optional ones stay absent. */
export function object<T extends object>(properties: { readonly [K in keyof T]-?: Parse<T[K] | undefined> }) {
  return (value: unknown, at: string): T => {
    if (typeof value !== 'object' || value === null || Array.isArray(value))
      return fail(at, 'an object', value);
    const entries = Object.entries<Parse<unknown>>(properties)
      .map(
        ([name, parse]) => [name, parse((value as Record<string, unknown>)[name], `${at}.${name}`)] as const,
      )
      .filter(([, parsed]) => parsed !== undefined);
    return Object.fromEntries(entries) as T;
  };
}

function fail(at: string, expected: string, value: unknown): never {
  throw new SlipstreamError('usage', `${at}: expected ${expected}, got ${describe(value)}`);
}

function describe(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length > 60 ? `${text.slice(0, 60)}...` : text;
}
