import type { SimilarPieces } from '../text/workspaceContext.ts';
import { documentId } from '../workspace/documentId.ts';
import { SimilarityIndex } from '../workspace/similarityIndex.ts';
import { similarTexts } from '../workspace/similarTexts.ts';
import type { BenchmarkDocument } from './tasks/task.ts';

/** No file has it: what is found is read again the first time. */
const neverRead = { size: -1, mtimeMs: -1 };

/**
 * What the other files have that is like a place, as an editor's workspace finds it. The document that is being
 * completed is not among them: it is open.
 */
export class SimilarDocuments {
  readonly #index = new SimilarityIndex();
  readonly #documents = new Map<string, BenchmarkDocument>(); // by the index's name

  add(document: BenchmarkDocument): void {
    const id = documentId(document.uri);
    this.#documents.set(id, document);
    this.#index.set(id, document.text, neverRead);
  }

  async find(near: string): Promise<SimilarPieces> {
    const { texts, rarity } = await similarTexts(this.#index, near);
    const pieces = texts.map(({ path: id, firstLine, text }) => ({
      id,
      path: this.#documents.get(id)!.path,
      firstLine,
      text,
    }));
    return { pieces, rarity };
  }

  holdOut(id: string): void {
    this.#index.delete(id);
  }

  restore(id: string): void {
    this.#index.set(id, this.#documents.get(id)!.text, neverRead);
  }
}
