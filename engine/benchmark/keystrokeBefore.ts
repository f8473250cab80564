/**
 * The text before the cursor as it was one keystroke earlier: without its last character, or, on a line that is only
 * indented so far, without the Enter that made it.
 */
export function keystrokeBefore(before: string): string {
  const enter = /(?:\r?\n)[ \t]*$/u.exec(before);
  if (enter) return before.slice(0, enter.index);
  return [...before.slice(-2)].length === 1 ? before.slice(0, -2) : before.slice(0, -1);
}
