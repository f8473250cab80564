import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Session } from './session.ts';
import type { StartVsCode } from './vsCode.ts';

const distinctive = `export function renderQuarterlyLedger(ledger, columns) {
  const widths = columns.map((column) => Math.max(column.title.length, ...ledger.map((row) => row[column.key].length)));
  const separator = widths.map((width) => '-'.repeat(width + 2)).join('+');
  return [separator, ...ledger.map((row) => formatLedgerRow(row, columns, widths)), separator].join('\\n');
}
`;

const beginning = `/** Adds up. */
export function sum(items) {
  let total = 0;
  for (const item of items) {
    total += item;
  }
  return total;
}

export function product(items) {
  let total = 1;
`;

const pythonBeginning = `def total(items):
    result = 0
    for item in items:
        result += item
    return result


def product(items):
    result = 1
`;

/** What a person sees and does, in whichever VS Code. */
export function suggestionsSuite(startVsCode: StartVsCode): void {
  let session: Session;
  before(async () => {
    session = await Session.start(startVsCode, {
      files: {
        'sum.js': beginning,
        'through.js': beginning,
        'rested.js': beginning.replaceAll('items', 'berths'),
        'brackets.ts': beginning,
        'block.ts': 'function add(a: number, b: number) {\n  return a + b;\n}\n\n',
        'prod.secret.json': '{}\n',
        'cycled.js': '',
        'killed.js': beginning,
        'enabled.js': beginning,
        'menu.py': pythonBeginning,
        'ledger.js': distinctive,
        'copy.js': '// The same table again.\n',
        '.env': 'TOKEN=secret\n',
      },
      // In JavaScript what is typed stays as it is typed.
      settings: {
        'slipstream.maxTokens': -4,
        'editor.autoIndent': 'none',
        'editor.quickSuggestions': { other: 'off' },
        '[typescript]': { 'editor.autoIndent': 'full' },
        '[javascript]': { 'editor.autoClosingBrackets': 'never', 'editor.autoClosingQuotes': 'never' },
      },
    });
    await session.editor.openFile('sum.js');
    await session.editor.waitForStatus('tiny-coder');
  });
  after(() => session?.end());

  /** How often the engine was asked. */
  const requests = () => session.log().match(/ after \d+ ms/g)?.length ?? 0;

  const firstGhostText = () =>
    session.editor.waitForGhostText().catch((cause) => {
      throw new Error(`no ghost text\n${session.log().slice(-2000)}`, { cause });
    });

  /** Ghost text that stays: typing is over and the engine has answered. */
  async function settledGhostText(): Promise<string> {
    for (let text = await firstGhostText(); ; ) {
      await pause(400);
      const again = await session.editor.ghostText();
      if (again !== '' && again === text) return text;
      text = again;
    }
  }

  test('a bad setting is reported and its default used', async () => {
    const problem = 'slipstream.maxTokens is -4 but has to be a whole number from 1 to 1024; 128 is used.';
    await session.editor.notification(problem);
    await session.editor.runCommand('Notifications: Hide Notifications');
  });

  test('typing in a file brings ghost text, and Tab accepts exactly it', async () => {
    const { editor } = session;
    await editor.openFile('sum.js');
    const typed = '  for (const item of';
    await editor.type(typed);
    const ghost = await settledGhostText();
    await editor.page.keyboard.press('Tab');
    await editor.save();
    const shown = beginning + typed + ghost;
    await session.waitFor(`${shown} in the file`, () => session.read('sum.js').startsWith(shown));
  });

  test('where the cursor rests the prompt is evaluated ahead: the first key waits for little of it', async () => {
    const { editor } = session;
    const before = session.log().length;
    await editor.openFile('rested.js');
    await session.waitFor('tokens evaluated ahead', () =>
      /evaluated ahead/.test(session.log().slice(before)),
    );
    await pause(500); // The workspace may have more to say, and that is evaluated too.
    await editor.type('  for');
    await settledGhostText();
    const [, prompt, prefilled] = /prompt (\d+), prefilled (\d+)/.exec(session.log().slice(before)) ?? [];
    assert.ok(Number(prompt) > 100 && Number(prefilled) <= 16, `${prefilled} of ${prompt} tokens prefilled`);
  });

  test('the last prompt is shown to be read: nobody edits it, and nothing is suggested in it', async () => {
    const { editor } = session;
    const asked = requests();
    await editor.runCommand('Slipstream: Show Last Prompt');
    await editor.page.waitForSelector('.tab.active:has-text("last prompt")');
    await editor.page.waitForSelector('.view-line:has-text("<|fim_prefix|>")');
    await editor.type('x');
    await pause(600);
    assert.equal(await editor.ghostText(), '');
    assert.equal(requests(), asked);
    await editor.page.keyboard.press('Control+W');
    await editor.page.waitForSelector('.tab:has-text("last prompt")', { state: 'detached' });
  });

  test('typing what is suggested keeps the rest in place, at once and without a request', async () => {
    const { editor } = session;
    await editor.openFile('through.js');
    await editor.type('  for (const');
    const ghost = await settledGhostText();
    const asked = requests();
    const through = ghost.split('\n')[0].slice(0, 4);
    assert.ok(through.length > 1, `too short to type through: ${ghost}`);
    await editor.watchGhostText();
    for (let i = 0; i < through.length; i++) {
      await editor.type(through[i]);
      await waitForGhost(ghost.slice(i + 1));
    }
    await pause(300);
    assert.equal(requests(), asked, 'the engine was asked for what was known');
    const { seen } = await editor.watchedGhostText();
    assert.ok(!seen.some(({ text }) => text === ''), 'the ghost text flickered');
  });

  async function waitForGhost(expected: string): Promise<void> {
    const from = performance.now();
    for (let seen = ''; seen !== expected; seen = await session.editor.ghostText()) {
      assert.ok(performance.now() - from < 5000, `expected ghost text ${expected}, saw ${seen}`);
    }
  }

  test('brackets that VS Code closed by itself are not doubled', async () => {
    const { editor } = session;
    await editor.openFile('brackets.ts');
    await editor.type('  console.log(');
    await settledGhostText();
    await editor.page.keyboard.press('Tab');
    await editor.save();
    const written = () => session.read('brackets.ts').slice(beginning.length).trimEnd();
    await session.waitFor('the accepted text', () => written().length > '  console.log()'.length);
    const count = (bracket: string) => written().split(bracket).length - 1;
    assert.equal(count(')'), count('('), written());
  });

  test('a bracket that Enter moved to a line of its own is not doubled', async () => {
    const { editor } = session;
    await editor.openFile('block.ts');
    await editor.type('function sub(a: number, b: number) {');
    const ghost = await settledGhostText();
    assert.match(ghost, /\n.*\n\}/, 'the whole block is suggested');
    const asked = requests();
    await editor.page.keyboard.press('Enter');
    await settledGhostText();
    assert.equal(requests(), asked, 'the engine was asked for what was known');
    await editor.page.keyboard.press('Tab');
    await editor.save();
    const written = () => session.read('block.ts').trimEnd();
    await session.waitFor('the accepted text', () => written().split('return').length === 3);
    assert.match(written(), /\{\n {2}return .*\n\}$/);
  });

  test('where nothing is suggested the status bar says why', async () => {
    const { editor } = session;
    await editor.openFile('prod.secret.json');
    await editor.page.waitForSelector(
      '[aria-label*="no suggestions in this file: its name says that it holds secrets"]',
    );
    await editor.openFile('sum.js');
    await editor.page.waitForSelector('[aria-label*="Slipstream, ready"]:not([aria-label*="in this file"])');
  });

  test('asking for the next suggestion brings others, and after the last the first again', async () => {
    const { editor } = session;
    await editor.openFile('cycled.js');
    // Nobody can be sure what is imported here: where the model is sure, all samples are one text.
    await editor.type('import { ');
    const first = await settledGhostText();
    const seen = [first];
    // On a machine that is busy fewer than three are made.
    while (seen.length < 2 || (seen.at(-1) !== first && seen.length < 4)) {
      await editor.page.keyboard.press('Alt+]');
      await waitForOtherGhost(seen.at(-1)!);
      seen.push(await settledGhostText());
    }
    assert.equal(seen.at(-1), first, seen.join('\n---\n'));
    assert.equal(new Set(seen).size, seen.length - 1, 'all are different');
  });

  async function waitForOtherGhost(before: string): Promise<void> {
    const from = performance.now();
    for (let seen = before; seen === before || seen === ''; seen = await session.editor.ghostText()) {
      assert.ok(performance.now() - from < 10_000, `no other ghost text than ${before}`);
    }
  }

  test('a function of another workspace file is suggested, drafted from that file', async () => {
    const { editor } = session;
    await editor.openFile('copy.js');
    const [first, second] = distinctive.split('\n');
    await editor.type(`${first}\n${second.slice(0, 30)}`, 40);
    await session.waitFor('a draft from the workspace', () => /"workspace":[1-9]/.test(session.log()));
    assert.notEqual(await settledGhostText(), '');
  });

  test('secrets are neither completed nor sent to the engine', async () => {
    const { editor } = session;
    const asked = requests();
    await editor.openFile('.env');
    await editor.type('KEY=');
    await pause(1000);
    assert.equal(await editor.ghostText(), '');
    assert.equal(requests(), asked);
  });

  test('the menu of the status bar switches one language off and on', async () => {
    const { editor } = session;
    const choose = async (status: string, entry: string) => {
      await editor.page.locator('.statusbar-item', { hasText: status }).first().click();
      await editor.page.locator('.quick-input-list .monaco-list-row', { hasText: entry }).click();
    };
    await editor.openFile('menu.py');
    await choose('tiny-coder', 'Disable for python');
    await session.waitFor('the setting', () =>
      isDeepStrictEqual(session.userSettings()?.['slipstream.enable'], { python: false }),
    );
    await editor.waitForStatus('Slipstream');
    const asked = requests();
    await editor.type('    for value');
    await editor.page.waitForSelector('.view-line:has-text("for value")');
    await pause(600);
    assert.equal(await editor.ghostText(), '');
    assert.equal(requests(), asked);

    await choose('Slipstream', 'Enable for python');
    await editor.waitForStatus('tiny-coder');
    await editor.type(' in');
    assert.notEqual(await settledGhostText(), '');
  });

  test('an idle engine takes no processor time', async () => {
    await pause(1500);
    const [pid] = session.engines();
    const ticks = () => {
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1].split(' ');
      return Number(fields[11]) + Number(fields[12]);
    };
    const from = ticks();
    await pause(3000);
    assert.ok(ticks() - from <= 3, `${(ticks() - from) * 10} ms of 3 s`);
  });

  test('a killed engine comes back and suggests again', async () => {
    const { editor } = session;
    await editor.openFile('killed.js');
    const [killed] = session.engines();
    process.kill(killed, 'SIGKILL');
    await session.waitFor('another engine', () => session.engines().some((pid) => pid !== killed));
    await editor.waitForStatus('tiny-coder');
    await editor.type('  for (const item of');
    assert.notEqual(await settledGhostText(), '');
  });

  test('an engine that keeps crashing is given up, which is said once, and can be started again', async () => {
    const { editor } = session;
    await session.waitFor('the engine to be given up', () => {
      session.engines().forEach(killIfAlive);
      return session.log().includes('engine failed');
    });
    const message = await editor.notification('ended 5 times within 3 minutes');
    await message.getByText('Restart Engine').click();
    await editor.waitForStatus('tiny-coder');
    assert.equal(session.engines().length, 1);
  });

  test('disabled, nothing runs and nothing is loaded; enabled, it is back', async () => {
    const { editor } = session;
    await editor.runCommand('Slipstream: Disable');
    await session.waitFor('the end of the engine', () => session.engines().length === 0);
    await editor.openFile('enabled.js');
    await editor.type('  for (const item');
    await pause(1000);
    assert.equal(await editor.ghostText(), '');
    assert.deepEqual(session.engines(), []);

    await editor.runCommand('Slipstream: Enable');
    await editor.waitForStatus('tiny-coder');
    await editor.type(' of');
    assert.notEqual(await settledGhostText(), '');
  });

  test('no engine outlives VS Code', async () => {
    assert.equal(session.engines().length, 1);
    session.kill();
    await session.waitFor('the end of the engine', () => session.engines().length === 0, 30_000);
  });
}

function killIfAlive(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It ended by itself.
  }
}
