import type { Random } from '../seededRandom.ts';
import { loadSyntax } from '../syntax/syntax.ts';
import type { Span } from '../syntax/syntaxTree.ts';
import { type CodeFile, readCode } from './codeFiles.ts';
import { cutLine } from './cutLine.ts';
import { type EvalTask, type MaskKind, maskKinds } from './evalTask.ts';
import { type MaskedSpans, maskedSpans } from './maskedSpans.ts';

interface OpenedFile {
  readonly file: CodeFile;
  readonly text: string;
  readonly spans: MaskedSpans;
}

/**
 * Up to `count` tasks, the same for the same seed; as many of each kind as there are. A file is chosen as often as it
 * is large, so that each line is as likely as any other; only files that are chosen are read.
 */
export async function sampleTasks(
  folder: string,
  files: readonly CodeFile[],
  count: number,
  random: Random,
): Promise<EvalTask[]> {
  const read = reader(folder);
  const tasks: EvalTask[] = [];
  for (const [i, kind] of maskKinds.entries()) {
    const share = Math.floor((count + maskKinds.length - 1 - i) / maskKinds.length);
    tasks.push(...(await sampleKind(kind, files, share, random, read)));
  }
  return tasks;
}

type Read = (file: CodeFile) => Promise<OpenedFile>;

function reader(folder: string): Read {
  const opened = new Map<CodeFile, OpenedFile>();
  return async (file) => {
    const known = opened.get(file);
    if (known !== undefined) return known;
    const text = (await readCode(folder, file)) ?? '';
    const fresh = { file, text, spans: maskedSpans(await loadSyntax(file.language), text) };
    opened.set(file, fresh);
    return fresh;
  };
}

async function sampleKind(
  kind: MaskKind,
  files: readonly CodeFile[],
  count: number,
  random: Random,
  read: Read,
): Promise<EvalTask[]> {
  const left = [...files];
  const unused = new Map<CodeFile, Span[]>();
  const tasks: EvalTask[] = [];
  while (tasks.length < count && left.length > 0) {
    const at = chooseBySize(left, random);
    const opened = await read(left[at]);
    const spans = unused.get(opened.file) ?? [...opened.spans[kind]];
    unused.set(opened.file, spans);
    const [span] = spans.splice(Math.floor(random() * spans.length), 1);
    if (span === undefined) left.splice(at, 1);
    else
      tasks.push(createTask(kind, opened, kind === 'line_rest' ? cutLine(opened.text, span, random) : span));
  }
  return tasks;
}

function chooseBySize(files: readonly CodeFile[], random: Random): number {
  let left = random() * files.reduce((sum, { bytes }) => sum + bytes, 0);
  const at = files.findIndex(({ bytes }) => {
    left -= bytes;
    return left < 0;
  });
  return at === -1 ? files.length - 1 : at;
}

function createTask(kind: MaskKind, { file, text }: OpenedFile, { start, end }: Span): EvalTask {
  return {
    path: file.path,
    language: file.language,
    kind,
    before: text.slice(0, start),
    truth: text.slice(start, end),
    after: text.slice(end),
  };
}
