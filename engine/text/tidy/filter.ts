import type { Indentation } from '../../protocol.ts';
import type { SyntaxProbe } from '../../syntax/documentSyntax.ts';
import type { EditPoint } from '../editPoint.ts';

/** What filters may look at beside the text. */
export interface TidyContext {
  readonly point: EditPoint;
  /** The editor's. */
  readonly indentation: Indentation;
  /** Names of the model's control tokens. */
  readonly specialTokenNames: readonly string[];
  /** Absent: there is no grammar for the document, or not yet. */
  readonly syntax?: SyntaxProbe | undefined;
}

/** What the model wrote from `writtenFrom` on, made better; empty when nothing of it is worth showing. */
export type Filter = (text: string, context: TidyContext) => string;
