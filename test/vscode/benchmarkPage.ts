import { readFile } from 'node:fs/promises';
import { type Browser, type Page, chromium as playwright } from 'playwright-core';
import type { PanelState, ToExtension, ToWebview } from '../../extension/benchmark/messages.ts';
import { panelHtml } from '../../extension/benchmark/panelHtml.ts';
import themes from '../fixtures/benchmark/themes.json' with { type: 'json' };
import { chromium } from './codeServerInstall.ts';
import type { View } from './editor.ts';

export type Theme = keyof typeof themes;
export const themeNames = Object.keys(themes) as readonly Theme[];

/** Nothing answers there: the page gets what `open` hands out, and anything else is a request too many. */
const origin = 'http://panel.invalid';
const assets = { 'benchmarkPanel.js': 'text/javascript', 'benchmarkPanel.css': 'text/css' } as const;

export interface BenchmarkPageOptions {
  readonly theme: Theme;
  readonly view: View;
  /** What the extension answers to `ready`. */
  readonly state: PanelState;
  /** What an earlier page kept. */
  readonly kept?: unknown;
}

/** The benchmark panel's bundle in Chromium, with its real page and policy; the test is the extension. */
export class BenchmarkPage {
  readonly page: Page;
  /** What should not be there: violations of the policy, errors, requests for anything but the two files. */
  readonly faults: string[] = [];

  private constructor(page: Page) {
    this.page = page;
  }

  static async open(
    browser: Browser,
    { theme, view, state, kept }: BenchmarkPageOptions,
  ): Promise<BenchmarkPage> {
    const page = await browser.newPage({ viewport: view, reducedMotion: 'reduce' });
    const panel = new BenchmarkPage(page);
    page.on('pageerror', (error) => panel.faults.push(String(error)));
    page.on('console', (message) => {
      if (message.type() === 'error') panel.faults.push(message.text());
    });
    await page.route('**', (route) => panel.#answer(route.request().url(), route));
    await page.addInitScript(`{
      globalThis.sent = [];
      globalThis.kept = ${JSON.stringify(kept)};
      globalThis.acquireVsCodeApi = () => ({
        postMessage: (message) => sent.push(message),
        getState: () => kept,
        setState: (state) => (kept = JSON.parse(JSON.stringify(state))),
      });
    }`);
    await page.goto(`${origin}/`);
    await panel.setTheme(theme);
    await page.waitForFunction(`sent.some(({ type }) => type === 'ready')`);
    await panel.tell({ type: 'state', state });
    await page.waitForSelector('h1');
    return panel;
  }

  /** As VS Code does it, also while a webview is open. */
  async setTheme(theme: Theme): Promise<void> {
    await this.page.evaluate(`{
      const { className, variables } = ${JSON.stringify(themes[theme])};
      document.body.className = className;
      const { style } = document.documentElement;
      for (const name of [...style]) style.removeProperty(name);
      for (const [name, value] of Object.entries(variables)) style.setProperty(name, value);
    }`);
  }

  async tell(message: ToWebview): Promise<void> {
    await this.page.evaluate(`window.postMessage(${JSON.stringify(message)}, '*')`);
  }

  /** All that the page has said so far. */
  sent(): Promise<ToExtension[]> {
    return this.page.evaluate<ToExtension[]>('sent');
  }

  /** What the page has kept for when it is shown again. */
  kept(): Promise<unknown> {
    return this.page.evaluate('kept');
  }

  close(): Promise<void> {
    return this.page.close();
  }

  async #answer(url: string, route: Parameters<Parameters<Page['route']>[1]>[0]): Promise<void> {
    const name = new URL(url).pathname.slice(1);
    if (name === '') {
      const html = panelHtml({ script: 'benchmarkPanel.js', styles: 'benchmarkPanel.css', source: origin });
      return route.fulfill({ contentType: 'text/html', body: html });
    }
    if (name in assets) {
      const contentType = assets[name as keyof typeof assets];
      return route.fulfill({ contentType, body: await readFile(`dist/${name}`) });
    }
    // A browser asks for it by itself; a webview does not.
    if (name !== 'favicon.ico') this.faults.push(`request for ${url}`);
    return route.abort();
  }
}

export function startChromium(): Promise<Browser> {
  return playwright.launch({ executablePath: chromium, args: ['--no-sandbox', '--disable-gpu'] });
}
