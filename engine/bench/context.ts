/** What every part of the benchmark is given. */
export interface BenchContext {
  readonly modelDir: string;
  readonly cacheDir: string;
  readonly seed: number;
  /** Of each class in each package. */
  readonly tasksPerClass: number;
  readonly progress: (text: string) => void;
}
