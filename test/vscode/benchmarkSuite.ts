import assert from 'node:assert/strict';
import { after, before, beforeEach, describe, test } from 'node:test';
import type { FrameLocator } from 'playwright-core';
import { parseReport } from '../../extension/benchmark/reportSchema.ts';
import { Session } from './session.ts';
import type { StartVsCode } from './vsCode.ts';

const command = 'Slipstream: Run Benchmark';
const MEASURED_WITHIN = 240_000;
const STARTED_WITHIN = 240_000;
/** Takes a moment on a good machine. */
const CANCELLED_WITHIN = 60_000;

/** So many places that no machine has completed them while the test waits. */
const MANY = '1000';
const manyFunctions = Array.from(
  { length: 400 },
  (_, i) => `export function scale${i}(items: number[], factor: number): number[] {
  const scaled = items.map((item) => item * factor + ${i});
  return scaled.filter((item) => item > ${i * 7});
}
`,
).join('\n');

/** The benchmark as a person runs it, in whichever VS Code: from the palette to the setting. */
export function benchmarkSuite(startVsCode: StartVsCode): void {
  let session: Session;
  let panel: FrameLocator;
  before(async () => {
    session = await Session.start(startVsCode, {
      workspace: 'test/fixtures/sample-workspace',
      files: {
        'other.json': '{"schema_version": 1, "created": "yesterday"}',
        'scales.ts': manyFunctions,
      },
      settings: {
        'slipstream.speculative.algorithm': 'recycle',
        'files.simpleDialog.enable': true,
      },
    });
    await session.editor.waitForStatus('tiny-coder', STARTED_WITHIN);
    panel = session.editor.webview();
  });
  after(() => session?.end());

  beforeEach(() => session.editor.runCommand(command));

  const button = (name: string) => panel.getByRole('button', { name });
  const summary = () => panel.locator('.summary');
  /** Of completions that count: fewer are for warming up. */
  const measuring = () => panel.getByText(/^[1-9]\d* of \d{3,} completions/);

  /** Plain decoding and n-grams, on so many places. */
  async function start(places: string): Promise<void> {
    await panel.locator('.setup').waitFor({ state: 'attached' });
    if (await panel.locator('.setup-again:not([open])').isVisible()) {
      await panel.locator('.setup-again > summary').click();
    }
    for (const box of await panel.getByRole('checkbox').all()) {
      if (await box.isEnabled()) await box.setChecked((await box.getAttribute('name')) === 'ngram');
    }
    await panel.getByRole('spinbutton', { name: 'Places' }).fill(places);
    await button('Run').click();
  }

  test('from the palette to a result on the workspace', async () => {
    await button('Run Benchmark').waitFor();
    await start('4');
    await button('Cancel').waitFor();
    await summary().waitFor({ timeout: MEASURED_WITHIN });
    assert.match((await summary().textContent())!, /plain decoding here/);
    assert.match((await panel.locator('.facts').textContent())!, /tiny-coder/);
    assert.match((await panel.locator('.verdict').textContent())!, /4 places of workspace/);
    assert.equal(await panel.locator('.chart rect.bar').count(), 2);
  });

  test('the button for the fastest writes the setting', async () => {
    await button('Use the Fastest').click();
    await panel.getByRole('button', { name: 'In use' }).waitFor();
    const fastest = (await panel.getByRole('button', { name: 'In use' }).textContent())!.trim();
    const names = { 'In use: Plain decoding': 'none', 'In use: N-gram': 'ngram' } as const;
    const expected = names[fastest as keyof typeof names];
    await session.waitFor(
      `${expected} in the settings`,
      () => session.userSettings()?.['slipstream.speculative.algorithm'] === expected,
    );
  });

  test('a hidden panel comes back with its result', async () => {
    const before = await summary().textContent();
    await session.editor.openFile('boats.ts');
    await session.editor.runCommand(command);
    await summary().waitFor();
    assert.equal(await summary().textContent(), before);
  });

  test('exported, opened again and compared; a file that is something else is refused', async () => {
    const { editor } = session;
    await button('Export JSON').click();
    const file = await editor.proposedFile('.json');
    await editor.chooseFile(file);
    const name = file.split('/').at(-1)!;
    await session.waitFor(name, () => session.has(name));
    assert.equal(parseReport(session.read(name)).tasks.length, 4);

    await button('Compare with a File').click();
    await editor.chooseFile(file);
    await panel.locator('.comparison').waitFor();
    assert.equal(await panel.locator('.comparison .notice').count(), 0);

    await button('Compare with a File').click();
    await editor.chooseFile(file.replace(name, 'other.json'));
    await editor.notification(
      'other.json is not a benchmark report that can be shown. created: Expected a date.',
    );
    await editor.runCommand('Notifications: Hide Notifications');
  });

  describe('a run that is not let finish', () => {
    test('cancelled, shows what was measured by then', async () => {
      await start(MANY);
      await measuring().waitFor({ timeout: MEASURED_WITHIN });
      await button('Cancel').click();
      await panel
        .getByText('Cancelled: these are the places that were done by then.')
        .waitFor({ timeout: CANCELLED_WITHIN });
    });

    test('ends when the panel is closed, and another one can be started', async () => {
      await start(MANY);
      await measuring().waitFor({ timeout: MEASURED_WITHIN });
      await session.editor.closeTab('Slipstream Benchmark');
      await session.editor.runCommand(command);
      await start('2');
      await panel.getByText(/(^|\s)2 places of workspace/).waitFor({ timeout: MEASURED_WITHIN });
    });
  });
}
