import * as v from 'valibot';
import { mostTasks } from '../../extension/benchmark/messages.ts';
import { algorithmSchema, taskClassSchema } from '../../extension/benchmark/reportSchema.ts';
import { isColumn } from './results/resultColumns.ts';

const viewStateSchema = v.object({
  /** What to measure; algorithms are undefined until the user has chosen: all that can run. */
  algorithms: v.optional(v.array(algorithmSchema)),
  tasks: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(mostTasks)),
  seed: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  /** The places whose figures are shown. */
  taskClass: v.union([taskClassSchema, v.literal('all')]),
  sort: v.optional(v.object({ column: v.pipe(v.string(), v.check(isColumn)), descending: v.boolean() })),
  /** The completion that the timeline shows, and how many of its steps are done. */
  timeline: v.object({
    task: v.optional(v.number()),
    algorithm: v.optional(algorithmSchema),
    step: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  }),
});

/** What is only about looking at the page. VS Code keeps it while the panel is hidden. */
export type ViewState = v.InferOutput<typeof viewStateSchema>;

const initial: ViewState = { tasks: 40, seed: 1, taskClass: 'all', timeline: { step: 0 } };

/** @param kept what an earlier page kept, perhaps one of another version; undefined when there was none */
export function parseViewState(kept: unknown): ViewState {
  const parsed = v.safeParse(viewStateSchema, kept);
  return parsed.success ? parsed.output : initial;
}
