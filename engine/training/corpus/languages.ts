/** The languages the embedded model is trained on, keyed by file name extension. */
const LANGUAGE_BY_EXTENSION = {
  ts: 'typescript',
  mts: 'typescript',
  tsx: 'tsx',
  js: 'javascript',
  mjs: 'javascript',
  jsx: 'javascript',
  py: 'python',
  go: 'go',
  rs: 'rust',
  c: 'c',
  h: 'c',
  cc: 'cpp',
  cpp: 'cpp',
  cxx: 'cpp',
  hpp: 'cpp',
  java: 'java',
  sh: 'shell',
  bash: 'shell',
  zsh: 'shell',
  css: 'css',
  scss: 'css',
  html: 'html',
  json: 'json',
  md: 'markdown',
} as const;

export type Language = (typeof LANGUAGE_BY_EXTENSION)[keyof typeof LANGUAGE_BY_EXTENSION];

export const LANGUAGES: readonly Language[] = [...new Set(Object.values(LANGUAGE_BY_EXTENSION))];

/** The language of a file by its name; undefined when the model is not trained on such files. */
export function languageOf(path: string): Language | undefined {
  const extension = /\.([a-z]+)$/i.exec(path)?.[1]?.toLowerCase();
  return extension && Object.hasOwn(LANGUAGE_BY_EXTENSION, extension)
    ? LANGUAGE_BY_EXTENSION[extension as keyof typeof LANGUAGE_BY_EXTENSION]
    : undefined;
}
