/**
 * Records the colours and fonts that VS Code gives to the benchmark's webview, as far as it uses them, so that its
 * tests see it in each theme as VS Code shows it.
 * Run: node --import tsx .dev/webviewThemes.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { startBrowserVsCode } from '../test/vscode/browserVsCode.ts';
import { Session } from '../test/vscode/session.ts';

const file = 'test/fixtures/benchmark/themes.json';
const themes = { dark: 'Dark Modern', light: 'Light Modern', highContrast: 'Dark High Contrast' } as const;

const used = [...new Set(readFileSync('dist/benchmarkPanel.css', 'utf8').match(/--vscode-[\w-]+/g))].sort();
/** Runs in the webview. */
const read = (names: readonly string[]) => `(() => {
  const value = (name) => document.documentElement.style.getPropertyValue(name);
  const names = ${JSON.stringify(names)}.filter((name) => value(name) !== '');
  return {
    className: document.body.className,
    variables: Object.fromEntries(names.map((name) => [name, value(name)])),
  };
})()`;

const session = await Session.start(startBrowserVsCode, { workspace: 'test/fixtures/sample-workspace' });
try {
  const { editor } = session;
  const { page } = editor;
  await editor.waitForStatus('tiny-coder', 240_000);
  await editor.runCommand('Slipstream: Run Benchmark');
  const body = editor.webview().locator('body');
  const recorded: Record<string, unknown> = {};
  for (const [name, theme] of Object.entries(themes)) {
    await page.keyboard.press('Control+K');
    await page.keyboard.press('Control+T');
    await page.waitForSelector('.quick-input-widget:visible');
    // The picker shows a theme while it is looked for: it takes a moment before and after.
    await page.waitForTimeout(1500);
    await page.keyboard.type(theme);
    await page.waitForTimeout(1500);
    await page.keyboard.press('Enter');
    await editor.webview().locator(`body[data-vscode-theme-name="${theme}"]`).waitFor();
    recorded[name] = await body.evaluate(read(used));
  }
  writeFileSync(file, `${JSON.stringify(recorded, null, 1)}\n`);
} finally {
  await session.end();
}
