import type { Language } from './languages.ts';

/** One source file as it goes into training: LF line ends, secrets scrubbed. */
export interface CorpusDocument {
  /** `npm:rxjs@7.8.2`, `debian:python3-flask@2.2.2-3`. */
  readonly package: string;
  /** Relative to the package's root, with `/`. */
  readonly path: string;
  readonly language: Language;
  readonly text: string;
}
