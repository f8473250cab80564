import { cutWindows } from '../../text/lineWindows.ts';
import type { WorkspacePieces } from '../../text/workspaceContext.ts';
import { SimilarityIndex, WINDOW_LINES } from '../../workspace/similarityIndex.ts';
import { FOUND } from '../../workspace/similarTexts.ts';
import type { CorpusDocument } from '../corpus/document.ts';

/** What the engine's index would find like a place, were the package the workspace. */
export class PackageContext {
  readonly #index = new SimilarityIndex();
  readonly #texts = new Map<string, string>(); // by path

  /** @param documents of one package; JSON is data, and left out */
  constructor(documents: readonly CorpusDocument[]) {
    for (const { path, text, language } of documents) {
      if (language === 'json') continue;
      this.#texts.set(path, text);
      this.#index.set(path, text, { size: text.length, mtimeMs: 0 });
    }
  }

  /** @param near the text right before the place, in the document of this path */
  at(path: string, near: string): WorkspacePieces {
    const others = [...this.#texts.keys()].filter((other) => other !== path);
    const pieces = this.#index.find(near, FOUND, others).map(({ path: found, window }) => ({
      id: found,
      path: found,
      ...cutWindows(this.#texts.get(found)!, WINDOW_LINES)[window]!,
    }));
    return { pieces, rarity: this.#index.raritiesNear(near), key: 0 };
  }
}
