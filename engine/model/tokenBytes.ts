/**
 * Byte-level vocabularies write each byte as one printable character: the printable ones of Latin-1 stand for
 * themselves, the others for the code points from 256 on, in order (GPT-2's encoder.py, bytes_to_unicode).
 */
const byteChars: readonly string[] = (() => {
  const standsForItself = (byte: number) =>
    (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || (byte >= 0xae && byte <= 0xff);
  let next = 256;
  return Array.from({ length: 256 }, (_, byte) => String.fromCharCode(standsForItself(byte) ? byte : next++));
})();

const charBytes = new Map(byteChars.map((char, byte) => [char, byte]));

const utf8 = new TextEncoder();

/** The UTF-8 bytes of `text` in the byte-level alphabet, one character a byte. */
export function toByteChars(text: string): string {
  let chars = '';
  for (const byte of utf8.encode(text)) chars += byteChars[byte];
  return chars;
}

/** The bytes a vocabulary entry stands for. */
export type TokenBytes = (token: string) => Uint8Array;

/** Entries of byte-level vocabularies (GPT-2, Qwen, Llama 3, StarCoder, DeepSeek). */
export const byteLevelBytes: TokenBytes = (token) => {
  const bytes = new Uint8Array(token.length);
  for (let i = 0; i < token.length; i++) {
    const byte = charBytes.get(token[i]);
    // Not written in the alphabet: an entry that stands for its own text.
    if (byte === undefined) return utf8.encode(token);
    bytes[i] = byte;
  }
  return bytes;
};

/** Entries of SentencePiece-like vocabularies: `▁` is a space, `<0x0A>` a byte (Llama 2, Gemma). */
export const byteFallbackBytes: TokenBytes = (token) => {
  const hex = /^<0x([0-9A-Fa-f]{2})>$/.exec(token);
  return hex ? Uint8Array.of(Number.parseInt(hex[1], 16)) : utf8.encode(token.replaceAll('▁', ' '));
};
