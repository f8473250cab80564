const LEADING_COMMENT = /^\s*(?:\/\*[\s\S]*?\*\/|(?:\/\/.*\n)+|(?:#(?!!).*\n)+|<!--[\s\S]*?-->)\s*/;

/** LF line ends, no byte order mark, no source map reference, no licence header, one line end at the end. */
export function normalise(text: string): string {
  const plain = text
    .replace(/^\ufeff/, '')
    .replace(/\r\n?/g, '\n')
    .replace(/\n\/\/# sourceMappingURL=.*\n?$/, '\n');
  const body = plain.replace(LEADING_COMMENT, (comment) =>
    /licen[cs]e|copyright/i.test(comment) ? '' : comment,
  );
  return `${body.trimEnd()}\n`;
}
