/**
 * What the benchmark's webview and the extension say to each other, parsed on either side. Nothing here needs VS Code
 * or Node: the webview bundles it.
 */
import * as v from 'valibot';
import type { AlgorithmFacts } from '../../engine/protocol.ts';
import { algorithmSchema, progressSchema, reportSchema } from './reportSchema.ts';

const engineSchema = v.variant('kind', [
  v.object({ kind: v.literal('off') }),
  v.object({ kind: v.literal('starting') }),
  v.object({ kind: v.literal('failed'), message: v.string() }),
  v.object({
    kind: v.literal('ready'),
    /** Name, device and precision. */
    model: v.string(),
    algorithms: v.array(
      v.object({
        algorithm: algorithmSchema,
        missing: v.exactOptional(v.string()),
        note: v.exactOptional(v.string()),
      }) satisfies v.GenericSchema<unknown, AlgorithmFacts>,
    ),
  }),
]);

const runSchema = v.variant('kind', [
  v.object({ kind: v.literal('idle') }),
  v.object({ kind: v.literal('running'), progress: progressSchema }),
  v.object({ kind: v.literal('cancelling') }),
  /** Before anything was measured. */
  v.object({ kind: v.literal('cancelled') }),
  v.object({ kind: v.literal('failed'), message: v.string() }),
]);

const panelStateSchema = v.object({
  engine: engineSchema,
  /** The algorithm of the settings in force. */
  inUse: algorithmSchema,
  run: runSchema,
  report: v.optional(reportSchema),
  /** A previous run, shown beside `report`. */
  previous: v.optional(reportSchema),
});

/** All that the extension knows of the panel. Sent whole, so that a webview that was hidden needs nothing else. */
export type PanelState = v.InferOutput<typeof panelStateSchema>;

const toWebviewSchema = v.variant('type', [
  v.object({ type: v.literal('state'), state: panelStateSchema }),
  /** Only of `state.run`, which is much the smaller part. */
  v.object({ type: v.literal('run'), run: runSchema }),
]);

export type ToWebview = v.InferOutput<typeof toWebviewSchema>;

/** More tasks than anybody waits for, yet a number that one may have typed by mistake. */
export const mostTasks = 1000;

const toExtensionSchema = v.variant('type', [
  /** The webview shows what it gets from now on. */
  v.object({ type: v.literal('ready') }),
  v.object({
    type: v.literal('start'),
    algorithms: v.pipe(v.array(algorithmSchema), v.minLength(1)),
    tasks: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(mostTasks)),
    seed: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
  }),
  v.object({ type: v.picklist(['cancel', 'useFastest', 'copyMarkdown', 'exportJson']) }),
  v.object({ type: v.picklist(['openReport', 'closePrevious']) }),
  v.object({ type: v.picklist(['enable', 'restartEngine', 'showLog']) }),
]);

export type ToExtension = v.InferOutput<typeof toExtensionSchema>;

/** @throws ValiError for anything else */
export const parseToWebview = v.parser(toWebviewSchema);
/** @throws ValiError for anything else */
export const parseToExtension = v.parser(toExtensionSchema);
