/** A text that Markdown shows as it is: paths and messages have characters that it would read as its own. */
export function markdownText(text: string): string {
  return text.replaceAll(/[\\`*_{}[\]()#+\-.!~<>|&:$]/gu, '\\$&');
}
