import * as vscode from 'vscode';
import type { BenchmarkReport } from '../../engine/protocol.ts';
import { parseReport } from './reportSchema.ts';

const filters = { JSON: ['json'] };

/** Asks where to, and writes there what `slipstream bench --json` would. */
export async function exportReport(report: BenchmarkReport): Promise<void> {
  const name = `slipstream-benchmark-${report.created.slice(0, 10)}.json`;
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  const uri = await vscode.window.showSaveDialog({
    ...(folder && { defaultUri: vscode.Uri.joinPath(folder, name) }),
    filters,
    title: 'Export Benchmark',
  });
  if (uri) await vscode.workspace.fs.writeFile(uri, Buffer.from(`${JSON.stringify(report, null, 2)}\n`));
}

/**
 * Asks for a report and reads it.
 *
 * @returns undefined when none was chosen
 * @throws Error that names the file and what is wrong with it
 */
export async function openReport(): Promise<BenchmarkReport | undefined> {
  const [uri] =
    (await vscode.window.showOpenDialog({ filters, title: 'Open Previous Benchmark', openLabel: 'Open' })) ??
    [];
  if (!uri) return undefined;
  const json = Buffer.from(await vscode.workspace.fs.readFile(uri)).toString('utf8');
  try {
    return parseReport(json);
  } catch (error) {
    const file = vscode.workspace.asRelativePath(uri);
    throw new Error(`${file} is not a benchmark report that can be shown. ${(error as Error).message}`, {
      cause: error,
    });
  }
}
