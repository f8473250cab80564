import type { CommandLine } from './commandLine.ts';

export interface Option {
  /** How the help names the value. Absent: a flag. */
  readonly value?: string;
  readonly help: string;
  /** Another name of an option of the same command. */
  readonly sameAs?: string;
}

/** One command of `slipstream`: its help and its work. Results go to stdout, everything else to stderr. */
export interface Command {
  readonly name: string;
  readonly summary: string;
  /** What follows `slipstream NAME` in the usage line. */
  readonly synopsis: string;
  /** The name of the one argument that is not an option. Absent: there is none. */
  readonly argument?: string;
  readonly options: Readonly<Record<string, Option>>;
  /** Rejects with SlipstreamError; code `usage` when the caller has to change what was typed. */
  run(line: CommandLine): Promise<void>;
}

export function commandHelp(command: Command): string {
  const options = { ...command.options, help: { help: 'Show this.' } } satisfies Record<string, Option>;
  const rows = Object.entries<Option>(options).map(([name, { value, help, sameAs }]) => ({
    left: `  --${name}${value ? ` ${value}` : ''}`,
    right: sameAs ? `The same as --${sameAs}.` : help,
  }));
  const width = Math.max(...rows.map(({ left }) => left.length)) + 2;
  return [
    command.summary,
    '',
    `Usage: slipstream ${command.name} ${command.synopsis}`,
    '',
    'Options:',
    ...rows.map(({ left, right }) => left.padEnd(width) + right),
    '',
  ].join('\n');
}

export function overview(commands: readonly Command[]): string {
  const width = Math.max(...commands.map(({ name }) => name.length)) + 2;
  return [
    'slipstream: code completion on this machine, with lossless speculative decoding.',
    '',
    'Usage: slipstream COMMAND [options]',
    '',
    'Commands:',
    ...commands.map(({ name, summary }) => `  ${name.padEnd(width)}${summary}`),
    '',
    'slipstream COMMAND --help shows the options of a command, slipstream --version the version.',
    '',
  ].join('\n');
}
