import { html, type TemplateResult } from 'lit-html';
import type { BenchmarkReport, TraceStep } from '../../../engine/protocol.ts';
import { algorithmNames } from '../../../extension/algorithmNames.ts';
import { taskClassNames } from '../../../extension/benchmark/reportNames.ts';
import { icons } from '../icons.ts';
import type { Actions, Model } from '../model.ts';
import { counted, milliseconds } from '../numbers.ts';
import { sourceLegend, sources } from '../sources.ts';
import type { ViewState } from '../viewState.ts';
import { draftTree } from './draftTree.ts';
import { race } from './race.ts';
import { selectionOf, type TimelineSelection } from './selection.ts';
import { stepStrip } from './stepStrip.ts';
import { textSoFar } from './textSoFar.ts';

/** One completion, step by step. */
export function timeline(model: Model, report: BenchmarkReport, actions: Actions): TemplateResult {
  const selection = selectionOf(report, model.view);
  const change = (part: Partial<ViewState['timeline']>) =>
    actions.look({ timeline: { ...model.view.timeline, ...part } });
  return html`
    <section class="timeline" aria-labelledby="timeline-heading">
      <div class="section-header">
        <h2 id="timeline-heading">One completion, step by step</h2>
        ${selection ? pickers(report, selection, change) : ''}
      </div>
      ${selection ? stage(model, selection, actions, (step) => change({ step })) : html`<p>This report has no trace.</p>`}
    </section>
  `;
}

function pickers(
  { traces, tasks, algorithms }: BenchmarkReport,
  { trace }: TimelineSelection,
  change: (part: Partial<ViewState['timeline']>) => void,
): TemplateResult {
  const traced = tasks.filter(({ id }) => traces.some(({ task }) => task === id));
  const pickTask = (event: Event) =>
    change({ task: Number((event.target as HTMLSelectElement).value), step: 0 });
  return html`
    <div class="pickers">
      <label>
        <span>Place</span>
        <select name="task" @change=${pickTask}>
          ${traced.map(
            ({ id, task_class, path, line }) => html`
              <option value=${id} .selected=${id === trace.task}>${path}:${line} (${taskClassNames[task_class]})</option>
            `,
          )}
        </select>
      </label>
      <label>
        <span>Algorithm</span>
        <select name="algorithm" @change=${(event: Event) => {
          const name = (event.target as HTMLSelectElement).value;
          change({ algorithm: algorithms.find((algorithm) => algorithm === name), step: 0 });
        }}>
          ${algorithms
            .filter((algorithm) =>
              traces.some((other) => other.task === trace.task && other.algorithm === algorithm),
            )
            .map(
              (algorithm) => html`
                <option value=${algorithm} .selected=${algorithm === trace.algorithm}>${algorithmNames[algorithm]}</option>
              `,
            )}
        </select>
      </label>
    </div>
  `;
}

function stage(
  { width, isPlaying }: Model,
  selection: TimelineSelection,
  { togglePlay }: Actions,
  goTo: (step: number) => void,
): TemplateResult {
  const { trace, step } = selection;
  const { steps } = trace;
  const newest: TraceStep | undefined = steps[step - 1];
  const shown = sources.filter((source) =>
    steps.some(({ drafted }) => drafted.some((node) => node.source === source)),
  );
  return html`
    <div class="stage" role="group" tabindex="0"
      aria-label="Timeline: arrow keys step, space plays, Home and End go to the ends"
      @keydown=${(event: KeyboardEvent) => onKey(event, selection, togglePlay, goTo)}>
      ${textSoFar(trace, step)}
      <div class="stage-step">
        <p class="step-title" role="status" aria-live=${isPlaying ? 'off' : 'polite'}>${describeStep(newest, step, steps.length)}</p>
        ${newest ? draftTree(newest) : html`<p class="hint">Play, or step with the arrow keys.</p>`}
        ${sourceLegend(shown, "The model's own token")}
      </div>
      <div class="transport">
        ${controls(step, steps.length, isPlaying, togglePlay, goTo)}
        <input type="range" min="0" max=${steps.length} .value=${String(step)} aria-label="Step"
          aria-valuetext="Step ${step} of ${steps.length}"
          @input=${(event: Event) => goTo((event.target as HTMLInputElement).valueAsNumber)} />
        <span class="transport-figure">${step} / ${steps.length}</span>
      </div>
      ${stepStrip(steps, step, width - 2 * STAGE_PADDING, goTo)}
      ${race(selection)}
    </div>
  `;
}

/** Of the stage and its border, as in timeline.css. */
const STAGE_PADDING = 17;

function controls(
  step: number,
  last: number,
  isPlaying: boolean,
  togglePlay: () => void,
  goTo: (step: number) => void,
): TemplateResult {
  const button = (name: string, icon: TemplateResult, isAtEnd: boolean, act: () => void) => html`
    <button class="icon-button" aria-label=${name} title=${name} aria-disabled=${isAtEnd}
      @click=${() => isAtEnd || act()}>${icon}</button>
  `;
  return html`
    <div class="buttons" role="group" aria-label="Steps">
      ${button('First step', icons.first, step === 0, () => goTo(0))}
      ${button('Step back', icons.previous, step === 0, () => goTo(step - 1))}
      ${button(isPlaying ? 'Pause' : 'Play', isPlaying ? icons.pause : icons.play, false, togglePlay)}
      ${button('Step forward', icons.next, step === last, () => goTo(step + 1))}
      ${button('Last step', icons.last, step === last, () => goTo(last))}
    </div>
  `;
}

/** Keys of the stage itself: its slider and buttons have their own, and so has what is too large and scrolls. */
function onKey(
  event: KeyboardEvent,
  { step, trace }: TimelineSelection,
  togglePlay: () => void,
  goTo: (step: number) => void,
): void {
  const target = event.target as Element;
  if (target.closest('button, input') || (target !== event.currentTarget && scrolls(target))) return;
  const last = trace.steps.length;
  const keys: Readonly<Record<string, () => void>> = {
    ArrowLeft: () => goTo(Math.max(0, step - 1)),
    ArrowRight: () => goTo(Math.min(last, step + 1)),
    Home: () => goTo(0),
    End: () => goTo(last),
    ' ': togglePlay,
  };
  const act = keys[event.key];
  if (!act || event.ctrlKey || event.altKey || event.metaKey) return;
  event.preventDefault();
  act();
}

const scrolls = ({ scrollWidth, clientWidth, scrollHeight, clientHeight }: Element) =>
  scrollWidth > clientWidth || scrollHeight > clientHeight;

function describeStep(step: TraceStep | undefined, number: number, last: number): string {
  if (!step) return `Before the first of ${counted(last, 'step')}`;
  const { drafted, bonus, draft_ms, verify_ms } = step;
  const accepted = drafted.filter(({ outcome }) => outcome === 'accepted').length;
  const draft =
    drafted.length === 0
      ? 'nothing drafted'
      : `${counted(drafted.length, 'token')} drafted, ${accepted} accepted`;
  const own = bonus ? ', 1 from the model itself' : '';
  return `Step ${number} of ${last}: ${draft}${own}; ${milliseconds(draft_ms + verify_ms)}`;
}
