import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SlipstreamError } from '../errors.ts';
import type { Command } from './command.ts';

/** A mistake in what was typed. The command line says it in one line and exits with 2. */
export function usageError(message: string, cause?: unknown): SlipstreamError {
  return new SlipstreamError('usage', message, { cause });
}

/** What was typed after the command's name, parsed once; the accessors check values and name the option in errors. */
export class CommandLine {
  readonly #command: Command;
  readonly #positionals: readonly string[];
  readonly #values: Readonly<Record<string, string | boolean>>;

  /** @throws SlipstreamError `usage` on an unknown option, a missing value or an argument too many */
  constructor(command: Command, args: readonly string[]) {
    const { values, positionals } = parse(command, args);
    this.#command = command;
    this.#positionals = positionals;
    this.#values = values;
    const tooMany = positionals[command.argument ? 1 : 0];
    if (tooMany !== undefined) throw usageError(`"${tooMany}" is one argument too many`);
  }

  argument(): string | undefined {
    return this.#positionals[0];
  }

  requiredArgument(): string {
    const argument = this.argument();
    if (argument === undefined) throw usageError(`${this.#command.argument} is missing`);
    return argument;
  }

  flag(name: string): boolean {
    return this.#values[name] === true;
  }

  text(name: string): string | undefined {
    const value = this.#values[name];
    return typeof value === 'string' ? value : undefined;
  }

  requiredText(name: string): string {
    const value = this.text(name);
    if (value === undefined) throw usageError(`--${name} is missing`);
    return value;
  }

  /** A whole number, at least `min`. */
  integer(name: string, min: number): number | undefined {
    const text = this.text(name);
    return text === undefined ? undefined : wholeNumber(`--${name}`, text, min);
  }

  requiredInteger(name: string, min: number): number {
    return wholeNumber(`--${name}`, this.requiredText(name), min);
  }

  /** A decimal number in [from, to]. */
  decimal(name: string, { from, to }: { from: number; to: number }): number | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const value = Number(text);
    if (!/^(\d+\.?\d*|\.\d+)(e-?\d+)?$/i.test(text) || value < from || value > to) {
      throw usageError(`--${name}: "${text}" is not a number from ${from} to ${to}`);
    }
    return value;
  }

  /** One of `choices`, in any case. */
  choice<Choice extends string>(name: string, choices: readonly Choice[]): Choice | undefined {
    const text = this.text(name);
    if (text === undefined) return undefined;
    const choice = choices.find((candidate) => candidate.toLowerCase() === text.toLowerCase());
    if (choice === undefined) throw usageError(`--${name}: "${text}" is not one of ${choices.join(', ')}`);
    return choice;
  }

  /** Token ids separated by commas. */
  tokenIds(name: string): Int32Array | undefined {
    const ids = this.text(name)?.split(',');
    return ids && Int32Array.from(ids, (id) => wholeNumber(`--${name}`, id.trim(), 0));
  }

  requiredTokenIds(name: string): Int32Array {
    this.requiredText(name);
    return this.tokenIds(name)!;
  }
}

function wholeNumber(name: string, text: string, min: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min || value > 0x7fffffff) {
    throw usageError(`${name}: "${text}" is not a whole number of at least ${min}`);
  }
  return value;
}

function parse(command: Command, args: readonly string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean' } };
  for (const [name, { value }] of Object.entries(command.options)) {
    options[name] = { type: value ? 'string' : 'boolean' };
  }
  try {
    const { values, positionals } = parseArgs({ args: [...args], options, allowPositionals: true });
    return { values: resolveAliases(command, values as Record<string, string | boolean>), positionals };
  } catch (error) {
    throw usageError(parseMessage(error as Error), error);
  }
}

function resolveAliases(command: Command, values: Record<string, string | boolean>) {
  const resolved: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(values)) {
    resolved[command.options[name]?.sameAs ?? name] = value;
  }
  return resolved;
}

/** The first sentence of Node's message; the rest explains Node's own syntax over several lines. */
function parseMessage(error: Error): string {
  return error.message.split(/\.(?:\s|$)/, 1)[0];
}
