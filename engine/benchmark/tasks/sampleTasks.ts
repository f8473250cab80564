import { shuffle } from 'simple-statistics';
import { languageOfCode } from '../../eval/codeFiles.ts';
import { type MaskedSpans, maskedSpans } from '../../eval/maskedSpans.ts';
import type { Random } from '../../seededRandom.ts';
import { loadSyntax } from '../../syntax/syntax.ts';
import type { Span } from '../../syntax/syntaxTree.ts';
import { type TaskClass, taskClasses } from '../benchmarkReport.ts';
import type { BenchmarkDocument, BenchmarkTask } from './task.ts';
import { taskKinds } from './taskKinds.ts';

/** Nearer to the start of a file there is too little to go on. */
const LEAST_BEFORE = 200;
/** Spans of one document that are tried for one task, so that a class which a workspace does not have ends soon. */
const TRIES = 16;

/**
 * Up to `count` tasks, the same for the same documents and random numbers. The classes take turns, so that one without
 * places leaves its share to the others; within a class the documents do.
 *
 * @param documents in an order that does not depend on the file system; those that are no code are left out
 * @throws the signal's reason
 */
export async function sampleTasks(
  documents: readonly BenchmarkDocument[],
  count: number,
  random: Random,
  signal: AbortSignal,
): Promise<BenchmarkTask[]> {
  const code = documents.filter(({ path }) => languageOfCode(path) !== undefined);
  const parsed = new ParsedDocuments();
  const taken = new Set<string>();
  let sources = taskClasses.map(
    (taskClass) => new TaskSource(taskClass, shuffle(code, random), parsed, taken),
  );
  const tasks: BenchmarkTask[] = [];
  while (sources.length > 0 && tasks.length < count) {
    const open: TaskSource[] = [];
    for (const source of sources) {
      signal.throwIfAborted();
      const task = tasks.length < count ? await source.next(random, signal) : undefined;
      if (!task) continue;
      tasks.push(task);
      open.push(source);
    }
    sources = open;
  }
  return tasks;
}

/** What can be held out of each document; most documents of a large workspace are never asked for. */
class ParsedDocuments {
  readonly #spans = new Map<BenchmarkDocument, MaskedSpans>();

  async spansOf(document: BenchmarkDocument): Promise<MaskedSpans> {
    const known = this.#spans.get(document);
    if (known) return known;
    const spans = maskedSpans(await loadSyntax(languageOfCode(document.path)!), document.text);
    this.#spans.set(document, spans);
    return spans;
  }
}

/** The tasks of one class: one of each document, then another one of each, for as long as there are some. */
class TaskSource {
  readonly #taskClass: TaskClass;
  readonly #parsed: ParsedDocuments;
  /** Places of tasks there are already, of any class: a line is completed once. */
  readonly #taken: Set<string>;
  readonly #spans = new Map<BenchmarkDocument, Span[]>();
  #turns: BenchmarkDocument[];

  constructor(
    taskClass: TaskClass,
    documents: BenchmarkDocument[],
    parsed: ParsedDocuments,
    taken: Set<string>,
  ) {
    this.#taskClass = taskClass;
    this.#turns = documents;
    this.#parsed = parsed;
    this.#taken = taken;
  }

  async next(random: Random, signal: AbortSignal): Promise<BenchmarkTask | undefined> {
    for (let document = this.#turns.shift(); document; document = this.#turns.shift()) {
      signal.throwIfAborted();
      const task = this.#take(document, await this.#spansOf(document, random), random);
      if (!task) continue;
      this.#turns.push(document);
      return task;
    }
    return undefined;
  }

  async #spansOf(document: BenchmarkDocument, random: Random): Promise<Span[]> {
    const known = this.#spans.get(document);
    if (known) return known;
    const all = (await this.#parsed.spansOf(document))[taskKinds[this.#taskClass].spans];
    const spans = shuffle(
      all.filter(({ start }) => start >= LEAST_BEFORE),
      random,
    );
    this.#spans.set(document, spans);
    return spans;
  }

  #take(document: BenchmarkDocument, spans: Span[], random: Random): BenchmarkTask | undefined {
    for (let tries = 0; tries < TRIES; tries++) {
      const span = spans.pop();
      if (!span) return undefined;
      const line = `${document.path}:${document.text.lastIndexOf('\n', span.start - 1)}`;
      if (this.#taken.has(line)) continue;
      const hole = taskKinds[this.#taskClass].cut(document.text, span, random);
      if (!hole) continue;
      this.#taken.add(line);
      return { taskClass: this.#taskClass, document, ...hole };
    }
    return undefined;
  }
}
