import { type ParseArgsConfig, parseArgs } from 'node:util';
import { SlipstreamError } from '../errors.ts';
import type { Command, Option } from './command.ts';

/** A mistake in what was typed. The command line says it in one line and exits with 2. */
export function usageError(message: string, cause?: unknown): SlipstreamError {
  return new SlipstreamError('usage', message, { cause });
}

/** What was typed after the command's name, parsed once; the accessors check values and name the option in errors. */
export class CommandLine {
  readonly #command: Command;
  readonly #positionals: readonly string[];
  readonly #values: Readonly<Record<string, string | boolean>>;

  /** @throws SlipstreamError `usage` on an unknown or repeated option, a value or argument that is missing or empty, or one too many */
  constructor(command: Command, args: readonly string[]) {
    const { values, positionals } = parse(command, args);
    this.#command = command;
    this.#positionals = positionals;
    this.#values = values;
    const tooMany = positionals[command.argument ? 1 : 0];
    if (tooMany !== undefined) throw usageError(`"${tooMany}" is one argument too many`);
    if (positionals[0] === '') throw usageError(`${command.argument} is empty: ${needed(command.argument!)}`);
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

/** Token ids and seeds are 32-bit numbers. */
const LARGEST_NUMBER = 0x7fffffff;

function wholeNumber(name: string, text: string, min: number): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value < min) {
    throw usageError(`${name}: "${text}" is not a whole number of at least ${min}`);
  }
  if (value > LARGEST_NUMBER) throw usageError(`${name}: "${text}" is more than ${LARGEST_NUMBER}`);
  return value;
}

function parse(command: Command, args: readonly string[]) {
  const options: NonNullable<ParseArgsConfig['options']> = { help: { type: 'boolean', short: 'h' } };
  for (const [name, { value }] of Object.entries(command.options)) {
    options[name] = { type: value ? 'string' : 'boolean' };
  }
  try {
    const { values, positionals, tokens } = parseArgs({
      args: [...args],
      options,
      allowPositionals: true,
      tokens: true,
    });
    refuseEmpty(command, values);
    refuseRepeated(
      command,
      tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])),
    );
    return { values: resolveAliases(command, values as Record<string, string | boolean>), positionals };
  } catch (error) {
    if (error instanceof SlipstreamError) throw error;
    throw usageError(parseMessage(command, error as Error), error);
  }
}

/** What an empty value means differs from one shell variable that was not set to another; only a text may be empty. */
function refuseEmpty(command: Command, values: Readonly<Record<string, unknown>>): void {
  for (const [name, { value }] of Object.entries(command.options)) {
    if (value === undefined || value === 'TEXT' || values[name] !== '') continue;
    throw usageError(`--${name} is empty: ${needed(value)}`);
  }
}

/**
 * The last one would win, and nobody would hear of the other.
 * @param names of the options as they were typed, in their order
 */
function refuseRepeated(command: Command, names: readonly string[]): void {
  const given = new Map<string, string>();
  for (const name of names) {
    const option = command.options[name]?.sameAs ?? name;
    const earlier = given.get(option);
    if (earlier === name) throw usageError(`--${name} is given twice; leave one out`);
    if (earlier !== undefined) {
      throw usageError(`--${earlier} and --${name} are the same option; leave one out`);
    }
    given.set(option, name);
  }
}

/** @param value how the help names it */
function needed(value: string): string {
  const kinds: Readonly<Record<string, string>> = { DIR: 'a folder', FILE: 'a file' };
  return `it needs ${kinds[value] ?? 'a value'} (${value})`;
}

function resolveAliases(command: Command, values: Record<string, string | boolean>) {
  const resolved: Record<string, string | boolean> = {};
  for (const [name, value] of Object.entries(values)) {
    resolved[command.options[name]?.sameAs ?? name] = value;
  }
  return resolved;
}

/** Node's messages explain Node's own syntax, over several lines. What they are about is told in this one's words. */
function parseMessage(command: Command, { message }: Error): string {
  const [sentence] = message.split(/\.(?:\s|$)/, 1);
  const [, name] = /^Option '--([\w-]+)[^']*' argument (?:missing|is ambiguous)/.exec(message) ?? [];
  const option: Option | undefined = command.options[name];
  if (option?.value) {
    return `--${name}: ${needed(option.value)}; one that begins with a dash is given as --${name}=-...`;
  }
  return command.argument && sentence.startsWith('Unknown option')
    ? `${sentence}; a ${command.argument} that begins with a dash is given last, after --`
    : sentence;
}
