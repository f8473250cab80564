import type { Tokenizer } from '../model/tokenizer.ts';
import type { SimilarPieces } from '../text/workspaceContext.ts';
import { documentId } from '../workspace/documentId.ts';
import type { NgramIndex } from '../workspace/ngramIndex.ts';
import { DocumentIndex } from './documentIndex.ts';
import { SimilarDocuments } from './similarDocuments.ts';
import type { BenchmarkDocument, BenchmarkTask } from './tasks/task.ts';

/** What an editor knows of the workspace while a task is being completed: nothing of what is held out. */
export class TaskWorkspace {
  readonly #index: DocumentIndex;
  readonly #similar = new SimilarDocuments();

  constructor(tokenizer: Tokenizer, vocabSize: number) {
    this.#index = new DocumentIndex(tokenizer, vocabSize);
  }

  get ngrams(): NgramIndex {
    return this.#index.ngrams;
  }

  findSimilar(near: string): Promise<SimilarPieces> {
    return this.#similar.find(near);
  }

  add(document: BenchmarkDocument): void {
    this.#index.add(documentId(document.uri), document.text);
    this.#similar.add(document);
  }

  holdOut({ document, before, after }: BenchmarkTask): void {
    const id = documentId(document.uri);
    this.#index.holdOut(id, before + after);
    this.#similar.holdOut(id);
  }

  restore({ document }: BenchmarkTask): void {
    const id = documentId(document.uri);
    this.#index.restore(id);
    this.#similar.restore(id);
  }
}
