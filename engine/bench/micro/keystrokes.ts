import { median, percentiles } from '../../benchmark/statistics.ts';
import { promptBudget } from '../../documentPrompts.ts';
import { seededRandom } from '../../seededRandom.ts';
import { editPointAt } from '../../text/editPoint.ts';
import { chooseFimFormat } from '../../text/fimFormat.ts';
import { buildPrompt, type Prompt, type PromptMemory } from '../../text/prompt.ts';
import { type ContextDocument, SnippetChooser } from '../../text/snippets.ts';
import type { BenchDocument, BenchWorkspace } from '../benchWorkspace.ts';
import type { MicroBench, Subject } from './microBench.ts';
import { elapsedMs, microseconds, OTHER_WORK_MS, shareText } from './timing.ts';

const KEYSTROKES = 200;
/** As many characters typed once more, with a pause before each. */
const PAUSES = 30;
const WARM_UP_KEYSTROKES = 20;
/** So that the file's first half fills the budget for what is before the cursor. */
const LEAST_CHARACTERS = 12_000;
const OPEN_TABS = 3;
const MAX_NEW_TOKENS = 64;

interface KeystrokeTime {
  readonly ms: number;
  readonly tokens: number;
}

/** What a typed character makes the completer encode again: all of the prompt's text, the way it does it. */
export function measureKeystrokes(bench: MicroBench, onePassMs: number): Subject {
  const { otherWork, seed } = bench;
  const typist = new Typist(bench, placeToType(bench.workspaces, seed));
  typist.type(WARM_UP_KEYSTROKES, () => {});
  const warm = typist.type(KEYSTROKES, () => {});
  const cold = typist.type(PAUSES, () => otherWork.run(OTHER_WORK_MS));
  const anew = typist.typeWithoutMemory(PAUSES);
  const { p50, p99 } = percentiles(warm.map(({ ms }) => ms));
  const coldMs = median(cold.map(({ ms }) => ms));
  const figures = [
    {
      name: 'prompt after a typed character, p50',
      unit: 'us',
      measured: microseconds(p50),
      baseline: { name: 'built anew', measured: microseconds(median(anew.map(({ ms }) => ms))) },
      remark: [
        `${median(warm.map(({ tokens }) => tokens)).toFixed(0)} tokens`,
        `p99 ${microseconds(p99).toFixed(0)} us`,
        shareText(p50, onePassMs),
        `after other work ${microseconds(coldMs).toFixed(0)} us`,
      ].join('; '),
    },
  ];
  return { figures, faults: [], details: { warm, cold, anew } };
}

interface Place {
  readonly document: BenchDocument;
  /** The other tabs. */
  readonly open: readonly BenchDocument[];
}

function placeToType(workspaces: readonly BenchWorkspace[], seed: number): Place {
  const places = workspaces.flatMap(({ documents }) =>
    documents
      .filter(({ text }) => text.length >= LEAST_CHARACTERS)
      .map((document) => ({
        document,
        open: documents.filter((other) => other !== document).slice(0, OPEN_TABS),
      })),
  );
  return places[Math.floor(seededRandom(seed)() * places.length)];
}

/** Types the second half of a file after its first half; what follows the line is not written yet. */
class Typist {
  readonly #bench: MicroBench;
  readonly #place: Place;
  readonly #context: readonly ContextDocument[];
  readonly #snippets = new SnippetChooser();
  #offset: number;
  #memory: PromptMemory | undefined;

  constructor(bench: MicroBench, place: Place) {
    this.#bench = bench;
    this.#place = place;
    this.#context = place.open.map(({ path, text }) => ({ id: path, version: 1, path, text }));
    this.#offset = Math.floor(place.document.text.length / 2);
  }

  type(characters: number, before: () => void): KeystrokeTime[] {
    return Array.from({ length: characters }, () => {
      this.#offset++;
      before();
      return this.#timed();
    });
  }

  typeWithoutMemory(characters: number): KeystrokeTime[] {
    return Array.from({ length: characters }, () => {
      this.#offset++;
      this.#memory = undefined;
      return this.#timed();
    });
  }

  #timed(): KeystrokeTime {
    let prompt: Prompt | undefined;
    const ms = elapsedMs(() => {
      prompt = this.#build();
    });
    this.#memory = prompt!.memory;
    return { ms, tokens: prompt!.tokens.length };
  }

  #build(): Prompt {
    const { runtime } = this.#bench;
    const { path, text } = this.#place.document;
    const lineEnd = text.indexOf('\n', this.#offset);
    const written = text.slice(0, this.#offset) + text.slice(lineEnd < 0 ? text.length : lineEnd);
    return buildPrompt(
      {
        tokenizer: runtime.tokenizer,
        format: chooseFimFormat(runtime.tokenizer),
        budget: promptBudget({ runtime, maxTokens: MAX_NEW_TOKENS }),
        point: editPointAt(written, this.#offset, 0),
        path,
        context: this.#context,
        snippets: this.#snippets,
      },
      this.#memory,
    );
  }
}
