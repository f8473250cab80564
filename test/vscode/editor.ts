import { type FrameLocator, type Locator, type Page, chromium as playwright } from 'playwright-core';
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

/** Times of the page's clock. */
export interface WatchedGhostText {
  readonly keysMs: readonly number[];
  /** What was seen, whenever it changed. */
  readonly seen: readonly { readonly atMs: number; readonly text: string }[];
}

/** A person at VS Code in a browser. */
export class Editor {
  readonly page: Page;
  readonly #close: () => Promise<void>;

  private constructor(page: Page, close: () => Promise<void>) {
    this.page = page;
    this.#close = close;
  }

  static async inBrowser(url: string, view: View): Promise<Editor> {
    const args = [
      ...['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run'],
      ...['--disable-background-networking', '--disable-component-update', '--disable-sync'],
    ];
    const browser = await playwright.launch({ executablePath: chromium, args });
    const page = await browser.newPage({ viewport: view });
    await page.goto(url, { timeout: 120_000 });
    return Editor.on(page, () => browser.close());
  }

  /** @returns once the window can be used */
  static async on(page: Page, close: () => Promise<void>): Promise<Editor> {
    await page.waitForSelector('.monaco-workbench', { timeout: 60_000 });
    await page.waitForSelector('.statusbar-item', { timeout: 60_000 });
    return new Editor(page, close);
  }

  /** Opens a file of the workspace and puts the cursor at the end of a line, the last one by default. */
  async openFile(name: string, line?: number): Promise<void> {
    const { keyboard } = this.page;
    await keyboard.press('Control+P');
    await this.#typeInQuickInput(name);
    await this.page.waitForSelector(`.quick-input-list .monaco-list-row.focused:has-text("${name}")`);
    await keyboard.press('Enter');
    await this.page.waitForSelector(`.tab.active:has-text("${name}")`);
    await this.page.waitForSelector('.editor-instance .monaco-editor.focused .view-line');
    if (line === undefined) await keyboard.press('Control+End');
    else await this.goToLine(line);
  }

  async goToLine(line: number): Promise<void> {
    const { keyboard } = this.page;
    await keyboard.press('Control+G');
    await this.#typeInQuickInput(String(line));
    await keyboard.press('Enter');
    await this.page.waitForSelector('.quick-input-widget', { state: 'hidden' });
    await keyboard.press('End');
  }

  /** It may be there before it has taken the focus from a webview: what is typed then is lost. */
  async #typeInQuickInput(text: string): Promise<void> {
    await this.page.waitForSelector('.quick-input-widget:visible');
    await this.page.locator('.quick-input-widget input[type="text"]').focus();
    await this.page.keyboard.type(text);
  }

  async type(text: string, delayMs = 90): Promise<void> {
    await this.page.keyboard.type(text, { delay: delayMs });
  }

  async runCommand(title: string): Promise<void> {
    const { keyboard } = this.page;
    const row = this.page.locator(`.quick-input-list .monaco-list-row.focused:has-text("${title}")`);
    // A webview that was just asked for takes the focus when it is ready, and closes the palette: it is opened again.
    for (let tries = 0; ; tries++) {
      await keyboard.press('F1');
      await this.#typeInQuickInput(title);
      try {
        await row.waitFor({ timeout: tries < 2 ? 5000 : 30_000 });
        break;
      } catch (error) {
        if (tries === 2) throw error;
        await keyboard.press('Escape');
      }
    }
    await keyboard.press('Enter');
  }

  /** The page of the webview that is in front. */
  webview(): FrameLocator {
    return this.page.frameLocator('iframe.webview.ready').frameLocator('#active-frame');
  }

  /** The path that a file dialog proposes, once it does. */
  async proposedFile(ending: string): Promise<string> {
    const input = this.page.locator('.quick-input-widget input[type="text"]');
    await input.waitFor();
    for (let tries = 0; tries < 100; tries++) {
      const path = await input.inputValue();
      if (path.endsWith(ending)) return path;
      await this.page.waitForTimeout(100);
    }
    throw new Error(`The dialog proposes ${await input.inputValue()}`);
  }

  /** Answers a file dialog, which has to be VS Code's own (`files.simpleDialog.enable`). */
  async chooseFile(path: string): Promise<void> {
    const input = this.page.locator('.quick-input-widget input[type="text"]');
    await input.waitFor();
    // It writes into its field itself until it is ready, and takes a path only once it has looked it up.
    for (let tries = 0; tries < 30 && (await input.isVisible()); tries++) {
      if ((await input.inputValue()) === path) await this.page.keyboard.press('Enter');
      else await input.fill(path);
      await this.page.waitForTimeout(1000);
    }
    await input.waitFor({ state: 'hidden' });
  }

  async closeTab(title: string): Promise<void> {
    const tab = this.page.locator('.tab', { hasText: title });
    await tab.locator('.tab-actions .action-label').click();
    await tab.waitFor({ state: 'hidden' });
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

  /** From now on keys and each ghost text that a frame shows are remembered with their times. */
  async watchGhostText(): Promise<void> {
    await this.page.evaluate(`{
      const watched = (globalThis.watched = { keysMs: [], seen: [] });
      if (!globalThis.watchesKeys) {
        globalThis.watchesKeys = true;
        addEventListener('keydown', () => globalThis.watched.keysMs.push(performance.now()), true);
      }
      const look = () => {
        if (watched !== globalThis.watched) return;
        const text = ${readGhostText};
        if (text !== watched.seen.at(-1)?.text) watched.seen.push({ atMs: performance.now(), text });
        requestAnimationFrame(look);
      };
      look();
    }`);
  }

  watchedGhostText(): Promise<WatchedGhostText> {
    return this.page.evaluate<WatchedGhostText>('globalThis.watched');
  }

  /** Waits until the last key has brought ghost text, as far as it does within the time. */
  async ghostTextOfLastKey(withinMs: number): Promise<void> {
    await this.page
      .waitForFunction(
        `(({ keysMs, seen }) => seen.some(({ atMs, text }) => atMs >= keysMs.at(-1) && text !== ''))(globalThis.watched)`,
        undefined,
        { timeout: withinMs },
      )
      .catch((error) => {
        if (error.name !== 'TimeoutError') throw error;
      });
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

  async waitForStatus(text: string, timeoutMs = 120_000): Promise<void> {
    await this.page
      .locator('[id="slipstream.slipstream.slipstream.status"]')
      .filter({ hasText: text })
      .waitFor({ timeout: timeoutMs });
  }

  /** What VS Code itself measured of the extensions' activation. */
  async activationsMs(...extensions: readonly string[]): Promise<number[]> {
    await this.runCommand('Developer: Show Running Extensions');
    const times: number[] = [];
    for (const name of extensions) times.push(await this.#activationMs(name));
    return times;
  }

  /** Only the rows in view are there: the list is scrolled until the one is. */
  async #activationMs(hasText: string): Promise<number> {
    const list = this.page.locator('.runtime-extensions-editor .monaco-list');
    const row = list.locator('.monaco-list-row', { hasText }).first();
    await list.hover();
    await this.page.mouse.wheel(0, -100_000);
    for (let scrolled = 0; scrolled < 50 && (await row.count()) === 0; scrolled++) {
      await this.page.mouse.wheel(0, 300);
      await this.page.waitForTimeout(100);
    }
    const text = await row.locator('.activation-time').textContent();
    return Number(/(\d+)\s*ms/.exec(text ?? '')?.[1]);
  }

  /** A message of VS Code, also when it has gone back into the bell by now. */
  async notification(text: string): Promise<Locator> {
    await this.runCommand('Notifications: Show Notifications');
    const message = this.page.locator('.notification-list-item', { hasText: text }).first();
    await message.waitFor();
    return message;
  }

  async screenshot(path: string): Promise<void> {
    await this.page.screenshot({ path });
  }

  async close(): Promise<void> {
    await this.#close();
  }
}
