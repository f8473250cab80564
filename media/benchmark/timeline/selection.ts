import type { BenchmarkReport, CompletionTrace } from '../../../engine/protocol.ts';
import type { Model } from '../model.ts';

export interface TimelineSelection {
  readonly trace: CompletionTrace;
  /** The same completion by plain decoding. */
  readonly plain: CompletionTrace | undefined;
  /** How many of the steps are done. */
  readonly step: number;
}

/** What the timeline shows: what was chosen as far as this report has it. Undefined for a report without a trace. */
export function selectionOf(
  { traces, fastest }: BenchmarkReport,
  { timeline }: Model['view'],
): TimelineSelection | undefined {
  const ofTask = traces.filter(({ task }) => task === timeline.task);
  const candidates = ofTask.length > 0 ? ofTask : traces.filter(({ task }) => task === traces[0].task);
  const wanted = timeline.algorithm ?? (fastest === 'none' ? 'auto' : fastest);
  const trace = candidates.find(({ algorithm }) => algorithm === wanted) ?? candidates.at(-1);
  if (!trace) return undefined;
  return {
    trace,
    plain: candidates.find(({ algorithm }) => algorithm === 'none'),
    step: Math.min(timeline.step, trace.steps.length),
  };
}
