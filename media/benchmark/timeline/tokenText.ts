/** A token's text on one line: what cannot be seen is shown by signs. */
export function visible(text: string): string {
  return text.replaceAll(' ', '·').replaceAll('\t', '⇥').replaceAll('\r', '').replaceAll('\n', '↵');
}
