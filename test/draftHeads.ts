import { after } from 'node:test';
import { openCheckpoint } from '../engine/compile/checkpoint.ts';
import type { Expansion } from '../engine/compile/heads/eagleGraphExpansion.ts';
import type { RecurrentHead } from '../engine/compile/heads/eagleGraphStep.ts';
import type { Precision } from '../engine/compile/precision.ts';
import { DraftHead } from '../engine/model/draftHead.ts';
import { temporaryFolder } from './temporaryFolder.ts';

/** Opens heads for one test file: compiled into a folder of its own, disposed at the end. */
export class DraftHeads {
  readonly #cacheDir = temporaryFolder();
  readonly #opened: DraftHead[] = [];

  constructor() {
    after(() => Promise.all(this.#opened.map((head) => head.dispose())));
  }

  async open(
    head: RecurrentHead,
    targetDir: string,
    precision: Precision,
    expansion: Expansion = 'mostProbable',
  ): Promise<DraftHead> {
    const options = { precision, expansion, cacheDir: this.#cacheDir, threads: 1, log: console.warn };
    const opened = await DraftHead.open(head, await openCheckpoint(targetDir), options);
    this.#opened.push(opened);
    return opened;
  }
}
