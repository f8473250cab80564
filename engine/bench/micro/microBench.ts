import type { ModelRuntime } from '../../modelRuntime.ts';
import type { BenchWorkspace } from '../benchWorkspace.ts';
import type { Figure } from '../report.ts';
import type { OtherWork } from './otherWork.ts';

/** What every subject of the micro-benchmarks is given. */
export interface MicroBench {
  readonly runtime: ModelRuntime;
  readonly workspaces: readonly BenchWorkspace[];
  readonly otherWork: OtherWork;
  readonly seed: number;
}

/** What was found about one subject. */
export interface Subject {
  readonly figures: readonly Figure[];
  readonly faults: readonly string[];
  readonly details: unknown;
}
