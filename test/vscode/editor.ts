import { type Browser, type Page, chromium as playwright } from 'playwright-core';
import { chromium } from './codeServerInstall.ts';

/** Runs in the page: all ghost text on the screen, in reading order. */
const readGhostText = String.raw`(() => {
  const texts = (selector) => [...document.querySelectorAll(selector)].map((node) => node.textContent);
  const firstLine = texts('.view-lines .ghost-text-decoration, .view-lines .ghost-text-decoration-preview').join('');
  return [firstLine, ...texts('.view-zones .suggest-preview-text .view-line')].join('\n').replaceAll('\u00a0', ' ');
})()`;

export interface View {
  readonly width: number;
  readonly height: number;
}

/** A person at VS Code in a browser. */
export class Editor {
  readonly page: Page;
  readonly #browser: Browser;

  private constructor(page: Page, browser: Browser) {
    this.page = page;
    this.#browser = browser;
  }

  static async open(url: string, view: View = { width: 1280, height: 800 }): Promise<Editor> {
    const args = [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ];
    const browser = await playwright.launch({ executablePath: chromium, args });
    const page = await browser.newPage({ viewport: view });
    await page.goto(url);
    await page.waitForSelector('.monaco-workbench', { timeout: 60_000 });
    await page.waitForSelector('.statusbar-item', { timeout: 60_000 });
    return new Editor(page, browser);
  }

  /** Opens a file of the workspace and puts the cursor at the end of a line, the last one by default. */
  async openFile(name: string, line?: number): Promise<void> {
    const { keyboard } = this.page;
    await keyboard.press('Control+P');
    await this.page.waitForSelector('.quick-input-widget:visible');
    await keyboard.type(name);
    await this.page.waitForSelector(`.quick-input-list .monaco-list-row.focused:has-text("${name}")`);
    await keyboard.press('Enter');
    await this.page.waitForSelector(`.tab.active:has-text("${name}")`);
    await this.page.waitForSelector('.editor-instance .view-line');
    if (line === undefined) await keyboard.press('Control+End');
    else await this.goToLine(line);
  }

  async goToLine(line: number): Promise<void> {
    const { keyboard } = this.page;
    await keyboard.press('Control+G');
    await this.page.waitForSelector('.quick-input-widget:visible');
    await keyboard.type(String(line));
    await keyboard.press('Enter');
    await this.page.waitForSelector('.quick-input-widget', { state: 'hidden' });
    await keyboard.press('End');
  }

  async type(text: string, delayMs = 90): Promise<void> {
    await this.page.keyboard.type(text, { delay: delayMs });
  }

  async runCommand(title: string): Promise<void> {
    const { keyboard } = this.page;
    await keyboard.press('F1');
    await this.page.waitForSelector('.quick-input-widget:visible');
    await keyboard.type(title);
    await this.page.waitForSelector(`.quick-input-list .monaco-list-row.focused:has-text("${title}")`);
    await keyboard.press('Enter');
  }

  ghostText(): Promise<string> {
    return this.page.evaluate<string>(readGhostText);
  }

  /** @returns the ghost text, once there is some */
  async waitForGhostText(timeoutMs = 15_000): Promise<string> {
    await this.page.waitForFunction(`(${readGhostText}) !== ''`, undefined, { timeout: timeoutMs });
    return this.ghostText();
  }

  async waitForNoGhostText(timeoutMs = 5000): Promise<void> {
    await this.page.waitForFunction(`(${readGhostText}) === ''`, undefined, { timeout: timeoutMs });
  }

  /** From now on each ghost text that a frame shows is remembered. */
  async watchGhostText(): Promise<void> {
    await this.page.evaluate(`{
      const seen = (globalThis.seenGhostTexts = []);
      const look = () => {
        if (seen !== globalThis.seenGhostTexts) return;
        const text = ${readGhostText};
        if (text !== seen.at(-1)) seen.push(text);
        requestAnimationFrame(look);
      };
      look();
    }`);
  }

  seenGhostTexts(): Promise<string[]> {
    return this.page.evaluate<string[]>('globalThis.seenGhostTexts');
  }

  /** Saves and lets VS Code write. */
  async save(): Promise<void> {
    await this.page.keyboard.press('Control+S');
    await this.page.waitForSelector('.tab.active:not(.dirty)');
  }

  /** What the status bar says of the extension. */
  status(): Promise<string | null> {
    return this.page.locator('[id="slipstream.slipstream.slipstream.status"]').textContent();
  }

  async waitForStatus(text: string, timeoutMs = 30_000): Promise<void> {
    await this.page
      .locator('[id="slipstream.slipstream.slipstream.status"]')
      .filter({ hasText: text })
      .waitFor({ timeout: timeoutMs });
  }

  async screenshot(path: string): Promise<void> {
    await this.page.screenshot({ path });
  }

  async close(): Promise<void> {
    await this.#browser.close();
  }
}
