import { createHash } from 'node:crypto';
import { readFile, rename, writeFile } from 'node:fs/promises';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../cacheFolder.ts';
import type { CompiledModel } from '../compile/compileModel.ts';
import type { CostTable } from './costTable.ts';

/** Raise it when what is measured changes. */
const VERSION = 3;
/** Whether anything else wanted the processor meanwhile, as it does while an editor starts. */
export type Moment = 'quiet' | 'busy';

const HOUR_MS = 3_600_000;
/**
 * Nothing measured lasts for ever: drivers are updated. What is measured in a busy moment is measured again soon. That the
 * machine has become slower or faster is no reason to: decoding follows it (CostModel), and measuring delays a start by a
 * second.
 */
const VALID_MS: Readonly<Record<Moment, number>> = { quiet: 30 * 24 * HOUR_MS, busy: HOUR_MS };

interface StoredTable {
  readonly measuredAtMs: number;
  readonly moment: Moment;
  readonly table: CostTable;
}

/** Keeps what was measured of a model on this machine, so that a warm start need not measure again. */
export class CostTableStore {
  readonly #folder: string;

  constructor(cacheDir: string) {
    this.#folder = join(cacheDir, 'cost-tables');
  }

  /** @param circumstances what else the times depend on: threads, adapters */
  async read(compiled: CompiledModel, circumstances: string): Promise<CostTable | undefined> {
    try {
      const stored: StoredTable = JSON.parse(await readFile(this.#file(compiled, circumstances), 'utf8'));
      const age = Date.now() - stored.measuredAtMs;
      return age >= 0 && age < VALID_MS[stored.moment] && isCostTable(stored.table)
        ? stored.table
        : undefined;
    } catch {
      return undefined;
    }
  }

  /** A table that cannot be kept is measured again next time. */
  async write(
    compiled: CompiledModel,
    circumstances: string,
    table: CostTable,
    moment: Moment,
  ): Promise<void> {
    const file = this.#file(compiled, circumstances);
    const stored: StoredTable = { measuredAtMs: Date.now(), moment, table };
    try {
      await makeFolder(this.#folder);
      await writeFile(`${file}.${process.pid}`, JSON.stringify(stored));
      await rename(`${file}.${process.pid}`, file);
    } catch {}
  }

  #file({ key }: CompiledModel, circumstances: string): string {
    const machine = JSON.stringify([VERSION, cpus()[0]?.model, circumstances]);
    return join(
      this.#folder,
      `${key}-${createHash('sha256').update(machine).digest('hex').slice(0, 12)}.json`,
    );
  }
}

function isCostTable(value: unknown): value is CostTable {
  const { nodeCounts, contexts, ms } = (value ?? {}) as Partial<CostTable>;
  if (!isNumbers(nodeCounts) || !isNumbers(contexts) || !Array.isArray(ms)) return false;
  return (
    ms.length === contexts.length &&
    ms.every((row) => isNumbers(row) && row.length === nodeCounts.length && row.every((time) => time > 0))
  );
}

function isNumbers(value: unknown): value is readonly number[] {
  return Array.isArray(value) && value.length > 0 && value.every((item) => Number.isFinite(item));
}
