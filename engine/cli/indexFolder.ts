import { resolve } from 'node:path';
import { embeddedModelDir } from '../embeddedModel.ts';
import { loadTokenizer } from '../model/tokenizer.ts';
import { WorkspaceIndex } from '../workspace/workspaceIndex.ts';
import { cacheDir, cacheOptions } from './cacheOption.ts';
import type { Command } from './command.ts';
import { requireFolder } from './files.ts';
import { modelDir, modelOptions } from './modelOption.ts';
import { printJson, printText, printWarning } from './output.ts';

export const indexCommand: Command = {
  name: 'index',
  summary: "Index a folder's files for n-gram drafts; print sizes and times.",
  synopsis: 'DIR [--model DIR] [--json]',
  argument: 'DIR',
  options: {
    ...modelOptions,
    ...cacheOptions,
    json: { help: 'Print one JSON document.' },
  },
  async run(line) {
    const folder = resolve(await requireFolder(line.requiredArgument()));
    const model = (await modelDir(line)) ?? embeddedModelDir;
    const { vocabSize } = await loadTokenizer(model);
    const report = await indexFolder({ folder, modelDir: model, vocabSize, cacheDir: cacheDir(line) });
    if (line.flag('json')) printJson(report);
    else printText(describe(report));
  },
};

interface IndexJob {
  readonly folder: string;
  readonly modelDir: string;
  readonly vocabSize: number;
  readonly cacheDir: string;
}

type IndexReport = Awaited<ReturnType<typeof indexFolder>>;

/**
 * Brings the index up to date (the first time that is building it), then opens it again from what was saved. Where
 * nothing could be saved that would be building it again.
 */
async function indexFolder(job: IndexJob) {
  const updated = await openIndex(job);
  const reopened = updated.isSaved ? await openIndex(job) : undefined;
  return {
    folder: job.folder,
    files: updated.files,
    tokens: updated.tokens,
    bytes: updated.bytes,
    bytes_per_token: updated.tokens === 0 ? 0 : updated.bytes / updated.tokens,
    build_ms: updated.ms,
    tokens_per_s: (1000 * updated.tokens) / updated.ms,
    reopen_ms: reopened?.ms ?? null,
  };
}

async function openIndex({ folder, ...options }: IndexJob) {
  const started = performance.now();
  const index = new WorkspaceIndex({
    ...options,
    onProgress: () => {},
    log: printWarning,
  });
  try {
    index.setFolders([{ path: folder, exclude: [] }]);
    await index.whenIdle();
    const ms = performance.now() - started;
    const { documentCount, tokenCount, bytes, isSaved } = index;
    return { files: documentCount, tokens: tokenCount, bytes, isSaved, ms };
  } finally {
    await index.dispose();
  }
}

function describe(report: IndexReport): string {
  const { files, tokens, bytes, build_ms, tokens_per_s, reopen_ms } = report;
  return [
    `${files} files, ${tokens} tokens, ${(bytes / 2 ** 20).toFixed(1)} MiB (${report.bytes_per_token.toFixed(1)} bytes a token)`,
    `brought up to date in ${build_ms.toFixed(0)} ms (${tokens_per_s.toFixed(0)} tokens/s)`,
    reopen_ms === null
      ? 'not saved: the next time it is built again'
      : `opened again from disk in ${reopen_ms.toFixed(0)} ms`,
  ].join('\n');
}
