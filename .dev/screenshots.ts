/**
 * Takes the pictures of the documentation in a real VS Code.
 * Run: node --import tsx .dev/screenshots.ts [ghost-text] [benchmark]   (default: all; the benchmark measures: let the
 * machine do nothing else)
 */
import { mkdirSync } from 'node:fs';
import { startBrowserVsCode } from '../test/vscode/browserVsCode.ts';
import { Session } from '../test/vscode/session.ts';

const folder = 'docs/images';
const workspace = 'test/fixtures/sample-workspace';
const quietEditor = {
  'workbench.colorTheme': 'Default Dark Modern',
  'editor.quickSuggestions': { other: 'off', comments: 'off', strings: 'off' },
  'editor.suggestOnTriggerCharacters': false,
  'editor.minimap.enabled': false,
  'editor.stickyScroll.enabled': false,
};

const pictures: Readonly<Record<string, (file: string) => Promise<void>>> = {
  'ghost-text': takeGhostText,
  benchmark: takeBenchmark,
};

mkdirSync(folder, { recursive: true });
const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : Object.keys(pictures))
  await pictures[name](`${folder}/${name}.png`);

async function takeGhostText(file: string): Promise<void> {
  /** The unfinished line of the sample workspace. */
  const place = { file: 'bookings.ts', line: 31, lastCharacter: 'p' };
  const view = { width: 1280, height: 760 };
  const session = await Session.start(startBrowserVsCode, { workspace, view, settings: quietEditor });
  try {
    const { editor } = session;
    await editor.openFile(place.file, place.line);
    await editor.waitForStatus('tiny-coder');
    await editor.page.keyboard.press('Backspace');
    await editor.type(place.lastCharacter);
    console.log(`Ghost text: ${await editor.waitForGhostText()}`);
    await editor.screenshot(file);
  } finally {
    await session.end();
  }
}

async function takeBenchmark(file: string): Promise<void> {
  // The sample is too small to draft from. This package is one that the included model never saw.
  const workspace = 'node_modules/fastify';
  const measuredWithin = 900_000;
  const view = { width: 1320, height: 1500 };
  const session = await Session.start(startBrowserVsCode, { workspace, view, settings: quietEditor });
  try {
    const { editor } = session;
    await editor.waitForStatus('tiny-coder', measuredWithin);
    await editor.page.keyboard.press('Control+B');
    await editor.runCommand('Slipstream: Run Benchmark');
    const panel = editor.webview();
    await panel.getByRole('spinbutton', { name: 'Places' }).fill('60');
    await panel.getByRole('button', { name: 'Run Benchmark' }).click();
    await panel.locator('.summary').waitFor({ timeout: measuredWithin });
    console.log(`Benchmark: ${await panel.locator('.summary').textContent()}`);
    // In the middle of the longest completion, at a step that accepted something.
    await panel.getByRole('combobox', { name: 'Place' }).selectOption({ index: 3 });
    await panel.getByRole('button', { name: 'Step forward' }).click();
    while ((await panel.locator('.chip.is-accepted').count()) < 3) {
      const forward = panel.getByRole('button', { name: 'Step forward' });
      if (await forward.isDisabled()) break;
      await forward.click();
    }
    await panel.locator('h1').scrollIntoViewIfNeeded();
    await editor.screenshot(file);
  } finally {
    await session.end();
  }
}
