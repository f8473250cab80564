import { SlipstreamError } from '../errors.ts';
import { readRegular } from '../regularFile.ts';
import { parseJsonObject } from './jsonObject.ts';

/** A JSON file of a checkpoint, read field by field with errors that name the file and the field. */
export class ConfigReader {
  readonly file: string;
  readonly #values: Readonly<Record<string, unknown>>;

  private constructor(file: string, values: Readonly<Record<string, unknown>>) {
    this.file = file;
    this.#values = values;
  }

  /** @throws SlipstreamError model.notFound, model.corrupt, io */
  static async read(file: string): Promise<ConfigReader> {
    const bytes = await readRegular(file).catch((cause) => {
      if (cause instanceof SlipstreamError) throw cause;
      throw new SlipstreamError(
        'model.notFound',
        `${file}: cannot be read. A model is a folder in Hugging Face layout: config.json, tokenizer.json and *.safetensors.`,
        { cause },
      );
    });
    return new ConfigReader(file, parseJsonObject(bytes, file));
  }

  /** The field as stored; undefined when absent or null. */
  raw(field: string): unknown {
    return this.#values[field] ?? undefined;
  }

  size(field: string, fallback?: number): number {
    const value = this.raw(field) ?? fallback;
    if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > 2 ** 31) {
      throw this.#wrong(field, 'a whole number above 0', value);
    }
    return value as number;
  }

  number(field: string, fallback?: number): number {
    const value = this.raw(field) ?? fallback;
    // Computed with in float32, where what is too large is infinite.
    if (typeof value !== 'number' || !Number.isFinite(Math.fround(value))) {
      throw this.#wrong(field, 'a number of a size that float32 holds', value);
    }
    return value;
  }

  positive(field: string, fallback?: number): number {
    const value = this.number(field, fallback);
    if (Math.fround(value) <= 0) throw this.#wrong(field, 'a number above 0 that float32 holds', value);
    return value;
  }

  boolean(field: string, fallback: boolean): boolean {
    const value = this.raw(field) ?? fallback;
    if (typeof value !== 'boolean') throw this.#wrong(field, 'true or false', value);
    return value;
  }

  string(field: string, fallback?: string): string {
    const value = this.raw(field) ?? fallback;
    if (typeof value !== 'string') throw this.#wrong(field, 'a string', value);
    return value;
  }

  object(field: string): ConfigReader | undefined {
    const value = this.raw(field);
    if (value === undefined) return undefined;
    if (typeof value !== 'object' || Array.isArray(value)) throw this.#wrong(field, 'an object', value);
    return new ConfigReader(`${this.file}: ${field}`, value as Record<string, unknown>);
  }

  unsupported(what: string): SlipstreamError {
    return new SlipstreamError('model.unsupported', `${this.file}: ${what}.`);
  }

  #wrong(field: string, expected: string, value: unknown): SlipstreamError {
    const found = value === undefined ? 'is missing' : `is ${JSON.stringify(value)}`;
    return new SlipstreamError(
      'model.corrupt',
      `${this.file}: "${field}" ${found}; it should be ${expected}.`,
    );
  }
}
