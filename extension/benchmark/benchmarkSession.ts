import * as vscode from 'vscode';
import { type Algorithm, type BenchmarkReport, defaultBenchmarkTokens } from '../../engine/protocol.ts';
import type { Configuration } from '../configuration.ts';
import type { EngineClient } from '../engineClient.ts';
import { EngineGone } from '../engineErrors.ts';
import type { EngineSupervisor } from '../engineSupervisor.ts';
import type { PanelState, ToExtension } from './messages.ts';

export type BenchmarkChoice = Pick<Extract<ToExtension, { type: 'start' }>, 'algorithms' | 'tasks' | 'seed'>;

type Reports = Pick<PanelState, 'report' | 'previous'>;

/** What a panel leaves to the next one when it is closed. */
export interface EarlierPanel extends Reports {
  /**
   * Settles when no run is under way, to the engine's knowledge too: it takes one at a time. A run that the closing ended
   * leaves what it had measured.
   */
  readonly ended: Promise<Reports>;
}

/** What one benchmark panel shows: the engine's side of it, the run and the reports. Disposed, it ends the run. */
export class BenchmarkSession implements vscode.Disposable {
  readonly #configuration: Configuration;
  readonly #supervisor: EngineSupervisor;
  readonly #changed = new vscode.EventEmitter<PanelState>();
  readonly #runChanged = new vscode.EventEmitter<PanelState['run']>();
  readonly #subscriptions: vscode.Disposable;
  /** All but the run, or more than that. */
  readonly onDidChange = this.#changed.event;
  /** The run alone. */
  readonly onDidChangeRun = this.#runChanged.event;
  #state: PanelState;
  #abort: AbortController | undefined;
  #ended: Promise<void>;

  constructor(configuration: Configuration, supervisor: EngineSupervisor, earlier: EarlierPanel) {
    const { ended, ...reports } = earlier;
    this.#ended = ended.then((atEnd) => {
      if (this.#state.report === reports.report) this.#change(atEnd);
    });
    this.#configuration = configuration;
    this.#supervisor = supervisor;
    this.#state = {
      engine: { kind: 'starting' },
      inUse: this.#algorithmInUse(),
      run: { kind: 'idle' },
      ...reports,
    };
    this.#subscriptions = supervisor.onDidChangeState(() => this.#askEngine());
    void this.#askEngine();
  }

  get state(): PanelState {
    return this.#state;
  }

  get left(): EarlierPanel {
    return { ...this.#reports, ended: this.#ended.then(() => this.#reports) };
  }

  get #reports(): Reports {
    const { report, previous } = this.#state;
    return { ...(report && { report }), ...(previous && { previous }) };
  }

  run(choice: BenchmarkChoice): void {
    const { client } = this.#supervisor;
    if (!client || this.#abort) return;
    this.#abort = new AbortController();
    this.#ended = this.#run(client, choice, this.#abort.signal, this.#ended);
  }

  cancel(): void {
    if (!this.#abort) return;
    this.#changeRun({ kind: 'cancelling' });
    this.#abort.abort();
  }

  useFastest(): Promise<void> | undefined {
    const { report } = this.#state;
    return report && this.#configuration.update('speculative.algorithm', report.fastest);
  }

  /** Beside the report that is there, or in its place where none is. */
  open(report: BenchmarkReport): void {
    this.#change(this.#state.report ? { previous: report } : { report });
  }

  closePrevious(): void {
    const { previous, ...rest } = this.#state;
    this.#state = rest;
    this.#changed.fire(rest);
  }

  dispose(): void {
    this.#abort?.abort();
    this.#subscriptions.dispose();
    this.#changed.dispose();
    this.#runChanged.dispose();
  }

  async #run(
    client: EngineClient,
    choice: BenchmarkChoice,
    signal: AbortSignal,
    earlierRun: Promise<void>,
  ): Promise<void> {
    this.#changeRun({
      kind: 'running',
      progress: { phase: 'preparing', done: 0, total: 0, detail: 'Asking the engine' },
    });
    try {
      await earlierRun;
      const report = await this.#measure(client, choice, signal);
      if (report) this.#change({ run: { kind: 'idle' }, report });
      else this.#changeRun({ kind: 'cancelled' });
    } catch (error) {
      this.#changeRun({ kind: 'failed', message: failureText(error) });
    } finally {
      this.#abort = undefined;
    }
  }

  #measure(
    client: EngineClient,
    choice: BenchmarkChoice,
    signal: AbortSignal,
  ): Promise<BenchmarkReport | null> {
    const onProgress = (progress: Extract<PanelState['run'], { kind: 'running' }>['progress']) => {
      if (!signal.aborted) this.#changeRun({ kind: 'running', progress });
    };
    return client.runBenchmark({ ...choice, maxNewTokens: defaultBenchmarkTokens }, onProgress, signal);
  }

  async #askEngine(): Promise<void> {
    const { state, client } = this.#supervisor;
    switch (state.kind) {
      case 'stopped':
        return this.#change({ engine: { kind: 'off' } });
      case 'starting':
        return this.#change({ engine: { kind: 'starting' } });
      case 'failed':
        return this.#change({ engine: { kind: 'failed', message: state.message } });
    }
    const { name, device, precision } = state.model;
    try {
      const algorithms = [...((await client?.listAlgorithms()) ?? [])];
      if (this.#supervisor.state !== state) return;
      const engine = { kind: 'ready' as const, model: `${name}, ${precision}, on ${device}`, algorithms };
      this.#change({ engine, inUse: this.#algorithmInUse() });
    } catch (error) {
      // What follows an engine that went away is told by the supervisor.
      if (!(error instanceof EngineGone)) {
        this.#change({ engine: { kind: 'failed', message: failureText(error) } });
      }
    }
  }

  /** Settings that were just changed may be refused. */
  #algorithmInUse(): Algorithm {
    const { state } = this.#supervisor;
    return state.kind === 'ready' ? state.model.algorithm : this.#configuration.settings.engine.algorithm;
  }

  #change(part: Partial<PanelState>): void {
    this.#state = { ...this.#state, ...part };
    this.#changed.fire(this.#state);
  }

  #changeRun(run: PanelState['run']): void {
    this.#state = { ...this.#state, run };
    this.#runChanged.fire(run);
  }
}

function failureText(error: unknown): string {
  if (error instanceof EngineGone) return 'The engine ended before the benchmark did. The log says why.';
  return error instanceof Error ? error.message : String(error);
}
