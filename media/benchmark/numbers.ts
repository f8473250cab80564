/** Figures as they are read. */

const nonBreakingSpace = '\u00a0';

export const times = (ratio: number) => `${ratio.toFixed(ratio < 10 ? 2 : 1)}×`;

export const percent = (share: number) => `${(100 * share).toFixed(0)}${nonBreakingSpace}%`;

export const whole = (value: number) => value.toLocaleString('en', { maximumFractionDigits: 0 });

/** Three digits are all that a measured time is good for. */
export function milliseconds(ms: number): string {
  const digits = ms < 10 ? 2 : ms < 100 ? 1 : 0;
  return `${ms.toLocaleString('en', { maximumFractionDigits: digits, minimumFractionDigits: digits })}${nonBreakingSpace}ms`;
}

export function mebibytes(bytes: number): string {
  const size = bytes / 2 ** 20;
  return `${size.toFixed(size < 10 ? 1 : 0)}${nonBreakingSpace}MiB`;
}

export const gibibytes = (bytes: number) => `${(bytes / 2 ** 30).toFixed(0)}${nonBreakingSpace}GiB`;

/** As one says how long one has to wait. */
export function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 100) return `${seconds}${nonBreakingSpace}s`;
  return `${Math.ceil(seconds / 60)}${nonBreakingSpace}min`;
}

export function moment(iso: string): string {
  return new Date(iso).toLocaleString('en', { dateStyle: 'medium', timeStyle: 'short' });
}

export const counted = (count: number, one: string, many = `${one}s`) =>
  `${whole(count)} ${count === 1 ? one : many}`;
