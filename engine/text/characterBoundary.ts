const pair = /^(?:\r\n|[\uD800-\uDBFF][\uDC00-\uDFFF])$/;

/** The offset itself, or the one before it when it lies within a surrogate pair or CRLF. UTF-16 units. */
export const characterBoundary = (text: string, offset: number) =>
  offset > 0 && pair.test(text.slice(offset - 1, offset + 1)) ? offset - 1 : offset;
