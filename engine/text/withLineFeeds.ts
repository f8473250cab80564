/** A document as models read it: they were trained on line feeds. */
export const withLineFeeds = (text: string) => (text.includes('\r') ? text.replaceAll('\r\n', '\n') : text);
