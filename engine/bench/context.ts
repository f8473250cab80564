/** What every part of the benchmark is given. */
export interface BenchContext {
  readonly modelDir: string;
  readonly cacheDir: string;
  readonly seed: number;
  /** Of each class in each package. */
  readonly tasksPerClass: number;
  /** HumanEval.jsonl, where it was given. */
  readonly humanEvalFile: string | undefined;
  readonly progress: (text: string) => void;
}
