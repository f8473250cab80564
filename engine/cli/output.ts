import type { LogLevel } from '../protocol.ts';

/** The one JSON document of a `--json` run. */
export function printJson(document: unknown): void {
  process.stdout.write(`${JSON.stringify(document)}\n`);
}

/** A result for people or for a pipe: exactly the text, ended by a line break where it has none. */
export function printText(text: string): void {
  process.stdout.write(text.endsWith('\n') ? text : `${text}\n`);
}

/** What is worth knowing beside the result; stdout stays the result alone. */
export function printNote(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** What the engine logs, as far as somebody at a terminal has to know it. */
export function printWarning(level: LogLevel, message: string): void {
  if (level === 'warn' || level === 'error') printNote(message);
}
