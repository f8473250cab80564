import * as vscode from 'vscode';
import type { Configuration } from '../configuration.ts';
import type { EngineSupervisor } from '../engineSupervisor.ts';
import { BenchmarkSession, type EarlierPanel } from './benchmarkSession.ts';
import { parseToExtension, type ToExtension, type ToWebview } from './messages.ts';
import { panelHtml } from './panelHtml.ts';
import { exportReport, openReport } from './reportFiles.ts';
import { reportMarkdown } from './reportMarkdown.ts';

export interface BenchmarkPanelSetup {
  readonly configuration: Configuration;
  readonly supervisor: EngineSupervisor;
  readonly extensionUri: vscode.Uri;
  readonly log: vscode.LogOutputChannel;
}

/** The one benchmark panel of a window, while it is open. */
export class BenchmarkPanel implements vscode.Disposable {
  readonly #setup: BenchmarkPanelSetup;
  #panel: vscode.WebviewPanel | undefined;
  /** Measuring takes minutes: a result is not lost with its tab. */
  #earlier: EarlierPanel = { ended: Promise.resolve({}) };

  constructor(setup: BenchmarkPanelSetup) {
    this.#setup = setup;
  }

  show(): void {
    if (this.#panel) this.#panel.reveal();
    else this.#panel = this.#open();
  }

  dispose(): void {
    this.#panel?.dispose();
  }

  #open(): vscode.WebviewPanel {
    const { configuration, supervisor, extensionUri } = this.#setup;
    const assets = vscode.Uri.joinPath(extensionUri, 'dist');
    const panel = vscode.window.createWebviewPanel(
      'slipstream.benchmark',
      'Slipstream Benchmark',
      vscode.ViewColumn.Active,
      { enableScripts: true, localResourceRoots: [assets] },
    );
    panel.iconPath = vscode.Uri.joinPath(extensionUri, 'media', 'icon.png');
    const session = new BenchmarkSession(configuration, supervisor, this.#earlier);
    const subscriptions = vscode.Disposable.from(
      session,
      session.onDidChange((state) => send(panel, { type: 'state', state })),
      session.onDidChangeRun((run) => send(panel, { type: 'run', run })),
      panel.webview.onDidReceiveMessage((message) => this.#receive(message, panel, session)),
    );
    panel.onDidDispose(() => {
      this.#panel = undefined;
      this.#earlier = session.left;
      subscriptions.dispose();
    });
    panel.webview.html = panelHtml({
      script: panel.webview.asWebviewUri(vscode.Uri.joinPath(assets, 'benchmarkPanel.js')).toString(),
      styles: panel.webview.asWebviewUri(vscode.Uri.joinPath(assets, 'benchmarkPanel.css')).toString(),
      source: panel.webview.cspSource,
    });
    return panel;
  }

  async #receive(message: unknown, panel: vscode.WebviewPanel, session: BenchmarkSession): Promise<void> {
    try {
      await this.#act(parseToExtension(message), panel, session);
    } catch (error) {
      this.#setup.log.error(error as Error);
      void vscode.window.showErrorMessage(`Slipstream: ${(error as Error).message}`);
    }
  }

  async #act(message: ToExtension, panel: vscode.WebviewPanel, session: BenchmarkSession): Promise<unknown> {
    const { report } = session.state;
    switch (message.type) {
      case 'ready':
        return send(panel, { type: 'state', state: session.state });
      case 'start':
        return session.run(message);
      case 'cancel':
        return session.cancel();
      case 'useFastest':
        return session.useFastest();
      case 'copyMarkdown':
        if (!report) return;
        await vscode.env.clipboard.writeText(reportMarkdown(report));
        return vscode.window.setStatusBarMessage('Benchmark copied as Markdown', 3000);
      case 'exportJson':
        return report && exportReport(report);
      case 'openReport': {
        const opened = await openReport();
        return opened && session.open(opened);
      }
      case 'closePrevious':
        return session.closePrevious();
      case 'enable':
      case 'restartEngine':
      case 'showLog':
        return vscode.commands.executeCommand(`slipstream.${message.type}`);
    }
  }
}

/** A hidden webview drops it, and asks with `ready` when it is shown again. */
function send(panel: vscode.WebviewPanel, message: ToWebview): void {
  void panel.webview.postMessage(message);
}
