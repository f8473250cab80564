function printableBytes(): number[] {
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i);
  return [...range(33, 126), ...range(161, 172), ...range(174, 255)];
}

/** GPT-2's spelling of the 256 bytes: printable ones as themselves, the others from U+0100 on. */
export const BYTE_SPELLING: readonly string[] = (() => {
  const printable = new Set(printableBytes());
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(printable.has(byte) ? byte : next++));
})();
