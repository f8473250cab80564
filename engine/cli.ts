#!/usr/bin/env node
/** The command line: `slipstream COMMAND`. Exit codes: 0 done, 1 a fault, 2 a mistake in what was typed, 130 ended by Ctrl-C. */
import { benchCommand } from './cli/bench.ts';
import { type Command, commandHelp, overview } from './cli/command.ts';
import { CommandLine, usageError } from './cli/commandLine.ts';
import { completeCommand } from './cli/complete.ts';
import { doctorCommand } from './cli/doctor.ts';
import { evalCommand } from './cli/eval.ts';
import { generateCommand } from './cli/generate.ts';
import { indexCommand } from './cli/indexFolder.ts';
import { logitsCommand } from './cli/logits.ts';
import { printText } from './cli/output.ts';
import { tokenizeCommand } from './cli/tokenize.ts';
import { version } from './cli/version.ts';
import { SlipstreamError } from './errors.ts';
import { writeProblem } from './writeProblem.ts';

const commands: readonly Command[] = [
  completeCommand,
  generateCommand,
  logitsCommand,
  tokenizeCommand,
  indexCommand,
  evalCommand,
  benchCommand,
  doctorCommand,
];

async function main(args: readonly string[]): Promise<void> {
  const [name, ...rest] = args;
  switch (name) {
    case undefined:
    case '--help':
    case '-h':
    case 'help':
      printText(help(rest));
      return;
    case '--version':
      printText(version);
      return;
    default:
      await run(commandNamed(name), rest);
  }
}

/** @param about the command that is asked about, if one is */
function help([about]: readonly string[]): string {
  return about === undefined || about.startsWith('-') ? overview(commands) : commandHelp(commandNamed(about));
}

function commandNamed(name: string): Command {
  const command = commands.find((candidate) => candidate.name === name);
  if (command) return command;
  throw usageError(
    `unknown command "${name}"; it is one of ${commands.map((known) => known.name).join(', ')}`,
  );
}

async function run(command: Command, args: readonly string[]): Promise<void> {
  const line = new CommandLine(command, args);
  if (line.flag('help')) printText(commandHelp(command));
  else await command.run(line);
}

/** Missing and mistyped things are the caller's to change: exit code 2. */
function exitCode(error: unknown): number {
  return error instanceof SlipstreamError && ['usage', 'model.notFound'].includes(error.code) ? 2 : 1;
}

/** One line whatever happened; the causes and the stack are there when asked for. */
function report(error: unknown): void {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(`slipstream: ${message.replaceAll('\n', ' ')}\n`);
  if (process.env.SLIPSTREAM_DEBUG) console.error(error);
}

process.stdout.on('error', (cause: NodeJS.ErrnoException) => {
  // A reader that has seen enough (`| head`) is not a fault.
  if (cause.code === 'EPIPE') process.exit(0);
  const message = `the output cannot be written: ${writeProblem(cause)}`;
  report(new SlipstreamError('io', message, { cause }));
  process.exit(1);
});
// What was to be told beside the result is lost; the result is not.
process.stderr.on('error', () => {});

try {
  await main(process.argv.slice(2));
} catch (error) {
  report(error);
  process.exitCode = exitCode(error);
}
