import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, describe, test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import type { Browser, Locator, Page } from 'playwright-core';
import type { BenchmarkReport, CompletionTrace, TraceStep } from '../../engine/protocol.ts';
import { algorithmNames } from '../../extension/algorithmNames.ts';
import type { PanelState } from '../../extension/benchmark/messages.ts';
import { parseReport } from '../../extension/benchmark/reportSchema.ts';
import { BenchmarkPage, startChromium, type Theme, themeNames } from './benchmarkPage.ts';

/** Made by `slipstream bench` on the sample workspace. */
const report = parseReport(readFileSync('test/fixtures/benchmark/report.json', 'utf8'));

const engine: PanelState['engine'] = {
  kind: 'ready',
  model: 'tiny-coder, int8, on cpu',
  algorithms: [
    { algorithm: 'auto' },
    { algorithm: 'none' },
    { algorithm: 'ngram' },
    { algorithm: 'recycle' },
    { algorithm: 'nextn', note: 'NEXTN drafts as NGRAM does.' },
    { algorithm: 'eagle3' },
    { algorithm: 'medusa', missing: 'The model has no drafter for MEDUSA.' },
  ],
};
const idle: PanelState = { engine, inUse: 'ngram', run: { kind: 'idle' } };
const shown: PanelState = { ...idle, report };
const narrow = { width: 420, height: 800 };
const wide = { width: 1400, height: 900 };

const overall = report.results.filter(({ task_class }) => task_class === 'all');

let browser: Browser;
before(async () => {
  browser = await startChromium();
});
after(() => browser?.close());

/** Opens the panel, and after the test finds nothing wrong with it. */
async function withPanel(
  state: PanelState,
  use: (page: Page, panel: BenchmarkPage) => Promise<void>,
  { theme = 'dark', view = wide, kept }: { theme?: Theme; view?: typeof wide; kept?: unknown } = {},
): Promise<void> {
  const panel = await BenchmarkPage.open(browser, { theme, view, state, kept });
  try {
    await use(panel.page, panel);
    assert.deepEqual(panel.faults, []);
  } finally {
    await panel.close();
  }
}

/** Whatever can be read at the time, each with the least contrast that its text has with what lies behind it. */
const readContrasts = `(() => {
  const parse = (colour) => {
    const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], below) => [r, g, b].map((value, i) => value * a + below[i] * (1 - a));
  const backgroundOf = (node) => {
    if (!node) return [255, 255, 255];
    const own = parse(getComputedStyle(node).backgroundColor);
    return own[3] === 1 ? own.slice(0, 3) : over(own, backgroundOf(node.parentElement));
  };
  const luminance = (colour) => {
    const [r, g, b] = colour.map((value) => value / 255).map((v) => (v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const found = [];
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const parent = node.parentElement;
    const style = getComputedStyle(parent);
    const isShown = node.textContent.trim() !== '' && parent.checkVisibility({ visibilityProperty: true });
    if (!isShown || parent.closest(':disabled, [aria-disabled="true"], .is-missing, title, option, .visually-hidden')) continue;
    const below = backgroundOf(parent);
    const text = over(parse(parent instanceof SVGElement ? style.fill : style.color), below);
    const [a, b] = [luminance(text), luminance(below)].sort((x, y) => y - x);
    found.push({ text: node.textContent.trim().slice(0, 40), contrast: (a + 0.05) / (b + 0.05) });
  }
  return found;
})()`;

describe('in every theme', () => {
  for (const theme of themeNames) {
    for (const view of [narrow, wide]) {
      test(`${theme}, ${view.width} px: all is drawn, nothing sticks out, text can be read`, async () => {
        const use = async (page: Page) => {
          for (const heading of ['Speed', 'One completion, step by step', 'All figures', 'Measured on']) {
            assert.ok(await page.getByRole('heading', { name: heading, exact: true }).isVisible(), heading);
          }
          assert.equal(await page.evaluate('document.documentElement.scrollWidth'), view.width);
          const contrasts = await page.evaluate<{ text: string; contrast: number }[]>(readContrasts);
          assert.ok(contrasts.length > 200);
          assert.deepEqual(
            contrasts.filter(({ contrast }) => contrast < (theme === 'highContrast' ? 7 : 4.5)),
            [],
          );
        };
        await withPanel(shown, use, { theme, view, kept: { ...keptView, timeline: { step: 3 } } });
      });
    }
  }

  test('a change of the theme is followed at once', async () => {
    await withPanel(shown, async (page, panel) => {
      const colours = () =>
        page.evaluate(`[
          getComputedStyle(document.body).backgroundColor,
          getComputedStyle(document.querySelector('.is-plain + .row .bar, .row:not(.is-plain) .bar')).fill,
        ]`);
      assert.deepEqual(await colours(), ['rgb(31, 31, 31)', 'rgb(89, 164, 249)']);
      await panel.setTheme('light');
      assert.deepEqual(await colours(), ['rgb(255, 255, 255)', 'rgb(0, 99, 211)']);
    });
  });
});

const keptView = { tasks: 40, seed: 1, taskClass: 'all', timeline: { step: 0 } };

describe('choosing and running', () => {
  test('what can run is ticked, what cannot is greyed out with the reason, and Start says what was chosen', async () => {
    await withPanel(idle, async (page, panel) => {
      const box = (name: string) => page.getByRole('checkbox', { name });
      assert.ok(await box('Auto').isChecked());
      assert.ok(await box('Plain decoding').isDisabled());
      assert.equal(await box('NEXTN').isChecked(), false);
      assert.ok(await box('Medusa').isDisabled());
      assert.ok(await page.getByText('The model has no drafter for MEDUSA.').isVisible());

      await box('EAGLE-3').uncheck();
      await page.getByRole('spinbutton', { name: 'Places' }).fill('7');
      await page.getByRole('spinbutton', { name: 'Seed' }).fill('5');
      await page.getByRole('button', { name: 'Run Benchmark' }).click();
      assert.deepEqual((await panel.sent()).at(-1), {
        type: 'start',
        algorithms: ['auto', 'none', 'ngram', 'recycle'],
        tasks: 7,
        seed: 5,
      });
    });
  });

  test('plain decoding alone is no comparison, and no number of places is none', async () => {
    await withPanel(idle, async (page, panel) => {
      for (const name of ['Auto', 'N-gram', 'Token recycling', 'EAGLE-3']) {
        await page.getByRole('checkbox', { name }).uncheck();
      }
      assert.ok(await page.getByRole('button', { name: 'Run Benchmark' }).isDisabled());
      await page.getByRole('checkbox', { name: 'N-gram' }).check();
      await page.getByRole('spinbutton', { name: 'Places' }).fill('0');
      await page.getByRole('button', { name: 'Run Benchmark' }).click();
      assert.deepEqual(await panel.sent(), [{ type: 'ready' }]);
    });
  });

  test('a run shows how far it is and for how long yet, and can be cancelled', async () => {
    await withPanel(idle, async (page, panel) => {
      const progress = {
        phase: 'measuring',
        done: 30,
        total: 120,
        detail: 'Measuring',
        remainingMs: 41_300,
      } as const;
      await panel.tell({ type: 'run', run: { kind: 'running', progress } });
      await page.getByText('30 of 120 completions · about 42 s left').waitFor();
      assert.equal(await page.getByRole('progressbar').getAttribute('max'), '120');
      assert.equal(await page.evaluate(`document.querySelector('progress').value`), 30);
      assert.ok(await page.getByRole('button', { name: 'Run Benchmark' }).isDisabled());
      await page.getByRole('button', { name: 'Cancel' }).click();
      assert.deepEqual((await panel.sent()).at(-1), { type: 'cancel' });
      await panel.tell({ type: 'run', run: { kind: 'cancelled' } });
      await page.getByText('Cancelled before anything was measured.').waitFor();
    });
  });

  test('what cannot be changed keeps the focus, and stays as it is', async () => {
    await withPanel(idle, async (page, panel) => {
      const progress = { phase: 'preparing', done: 0, total: 0, detail: 'Loading the model' } as const;
      const controls = [
        page.getByRole('button', { name: 'Run Benchmark' }),
        page.getByRole('checkbox', { name: 'N-gram' }),
        page.getByRole('checkbox', { name: 'Plain decoding' }),
        page.getByRole('spinbutton', { name: 'Places' }),
      ];
      for (const control of controls) {
        await panel.tell({ type: 'run', run: { kind: 'idle' } });
        await page.locator('.run').waitFor({ state: 'detached' });
        await control.focus();
        await panel.tell({ type: 'run', run: { kind: 'running', progress } });
        await page.locator('.run').waitFor();
        for (const key of ['Enter', ' ', 'ArrowUp']) await page.keyboard.press(key);
        assert.ok(await isFocused(control));
      }
      assert.ok(await page.getByRole('checkbox', { name: 'N-gram' }).isChecked());
      assert.equal(await page.getByRole('spinbutton', { name: 'Places' }).inputValue(), '40');
      assert.deepEqual(await panel.sent(), [{ type: 'ready' }]);
    });
  });

  test('the reason why an algorithm is missing is there as a whole, however long', async () => {
    const missing = `The model has no drafter for MEDUSA: put one into ${'/a/long/path'.repeat(20)}.`;
    const algorithms = [{ algorithm: 'none' as const }, { algorithm: 'medusa' as const, missing }];
    await withPanel({ ...idle, engine: { ...engine, algorithms } }, async (page) => {
      const box = page.getByRole('checkbox', { name: missing });
      await box.focus();
      assert.ok(await isFocused(box));
      const [height, room] = await page.evaluate<number[]>(`(() => {
        const { scrollHeight, clientHeight } = document.querySelector('.is-missing .algorithm-about');
        return [scrollHeight, clientHeight];
      })()`);
      assert.equal(height, room);
    });
  });

  test('without an engine it says why, and what to do', async () => {
    await withPanel({ ...idle, engine: { kind: 'off' } }, async (page, panel) => {
      await page.getByRole('button', { name: 'Enable' }).click();
      assert.deepEqual((await panel.sent()).at(-1), { type: 'enable' });
      await panel.tell({
        type: 'state',
        state: { ...idle, engine: { kind: 'failed', message: 'no such model' } },
      });
      await page.getByText('The engine does not run: no such model').waitFor();
    });
  });
});

describe('a result', () => {
  test('is said in a live region that was there before it', async () => {
    await withPanel(idle, async (page, panel) => {
      const region = await page.locator('.verdict').getByRole('status').elementHandle();
      assert.equal(await region!.textContent(), '');
      await panel.tell({ type: 'state', state: shown });
      await page.getByText(report.summary).waitFor();
      assert.equal(await region!.textContent(), report.summary);
    });
  });

  test('has its sentence and a button for the fastest, which is idle when that is in use', async () => {
    await withPanel(shown, async (page, panel) => {
      assert.equal(await page.locator('.summary').textContent(), report.summary);
      await page.getByRole('button', { name: `Use the Fastest: ${algorithmNames[report.fastest]}` }).click();
      assert.deepEqual((await panel.sent()).at(-1), { type: 'useFastest' });
      await panel.tell({ type: 'state', state: { ...shown, inUse: report.fastest } });
      assert.ok(await page.getByRole('button', { name: 'In use' }).isDisabled());
    });
  });

  test('bars and intervals are as long as the figures say, and the figures are there as a table', async () => {
    await withPanel(shown, async (page) => {
      const chart = page.locator('.chart', { hasText: 'Speed-up of decoding' });
      const widths = await page.evaluate<number[]>(
        `[...document.querySelectorAll('rect.bar')].map((bar) => bar.width.baseVal.value)`,
      );
      const plain = widths[report.algorithms.indexOf('none')];
      for (const [i, { speedup }] of overall.entries()) {
        const width = widths[i];
        assert.ok(Math.abs(width / plain - speedup) < 1e-6, `${width / plain} for ${speedup}`);
      }
      const intervals = await page.evaluate<number[]>(
        `[...document.querySelectorAll('path.interval')].map((path) => path.getBBox().width)`,
      );
      const drafting = overall.filter(({ algorithm }) => algorithm !== 'none');
      assert.equal(intervals.length, drafting.length);
      for (const [
        i,
        {
          speedup_ci: [low, high],
        },
      ] of drafting.entries()) {
        assert.ok(Math.abs(intervals[i] / plain - (high - low)) < 1e-3);
      }
      await chart.getByText('Figures').click();
      const row = chart.getByRole('row', { name: 'N-gram' });
      const { speedup } = overall.find(({ algorithm }) => algorithm === 'ngram')!;
      assert.equal(await row.getByRole('cell').first().textContent(), `${speedup.toFixed(2)}×`);
    });
  });

  test('each chart says in words what it shows', async () => {
    await withPanel(shown, async (page) => {
      const labels = await page.evaluate<string[]>(
        `[...document.querySelectorAll('svg[role=img]')].map((chart) => chart.ariaLabel)`,
      );
      assert.equal(labels.length, 4);
      for (const label of labels as string[]) assert.match(label, /chart\. .*N-gram/);
    });
  });

  test('one class of places at a time, with the keyboard', async () => {
    await withPanel(shown, async (page, panel) => {
      const points = page.locator('.chart', { hasText: 'whole suggestion' }).locator('g circle.point');
      assert.equal(await points.count(), report.runs.length);
      await page.getByRole('radio', { name: 'All places' }).focus();
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowRight');
      const blocks = report.tasks.filter(({ task_class }) => task_class === 'block');
      assert.equal(await points.count(), blocks.length * report.algorithms.length);
      assert.equal(((await panel.kept()) as { taskClass: string }).taskClass, 'block');
    });
  });

  test('the table sorts by any column, down, up and back, and says so', async () => {
    await withPanel(shown, async (page) => {
      const table = page.locator('.results-table');
      const heading = table.getByRole('columnheader', { name: 'Tokens/s' });
      const speeds = async () =>
        (await table.locator('tbody tr td:nth-child(4)').allTextContents()).map((text) =>
          Number(text.replaceAll(',', '')),
        );
      const unsorted = await speeds();
      await heading.getByRole('button').click();
      assert.equal(await heading.getAttribute('aria-sort'), 'descending');
      assert.deepEqual(
        await speeds(),
        unsorted.toSorted((a, b) => b - a),
      );
      await heading.getByRole('button').click();
      assert.equal(await heading.getAttribute('aria-sort'), 'ascending');
      assert.deepEqual(
        await speeds(),
        unsorted.toSorted((a, b) => a - b),
      );
      await heading.getByRole('button').click();
      assert.deepEqual(await speeds(), unsorted);
    });
  });

  test('what the columns mean can be read with the keyboard', async () => {
    await withPanel(shown, async (page) => {
      const meaning = page.getByText('Prompt tokens evaluated a place: the others were there');
      assert.equal(await meaning.isVisible(), false);
      await page.getByText('What the columns mean').press('Enter');
      assert.ok(await meaning.isVisible());
    });
  });

  test('a difference in the output is an error with its cause', async () => {
    const cause =
      'ngram ended where plain decoding wrote "a": token 5 of the completion at src/boats.ts:12:3.';
    const difference = {
      task: 0,
      algorithm: 'ngram',
      position: 4,
      expected: { token: 1, text: 'a' },
      actual: null,
      is_fault: true,
      cause,
    } as const;
    const results = report.results.map((result) =>
      result.algorithm === 'ngram' ? { ...result, lossless: false } : result,
    );
    await withPanel({ ...shown, report: { ...report, differences: [difference], results } }, async (page) => {
      const alert = page.getByRole('alert');
      assert.match((await alert.textContent())!, /Not lossless/);
      assert.ok(await alert.getByText(cause).isVisible());
      assert.equal(await page.locator('.results-table tr.is-faulty').count(), 5);
    });
  });

  test('near-ties of a GPU are noted, not called an error', async () => {
    const nearTies = Array.from({ length: 7 }, (_, position) => ({
      task: 0,
      algorithm: 'ngram' as const,
      position,
      expected: null,
      actual: null,
      is_fault: false,
      cause: `near-tie ${position}`,
    }));
    const results = report.results.map((result) =>
      result.algorithm === 'ngram' ? { ...result, lossless: false } : result,
    );
    await withPanel({ ...shown, report: { ...report, differences: nearTies, results } }, async (page) => {
      assert.equal(await page.getByRole('alert').count(), 0);
      assert.equal(await page.locator('.notes li', { hasText: 'near-tie' }).count(), 5);
      assert.ok(await page.getByText('and 2 differences more').isVisible());
      assert.equal(await page.locator('.results-table tr.is-faulty').count(), 0);
      assert.equal(await page.locator('.results-table td', { hasText: 'but for near-ties' }).count(), 5);
    });
  });

  test('a cancelled run is shown as such', async () => {
    await withPanel({ ...shown, report: { ...report, cancelled: true } }, async (page) => {
      assert.ok(await page.getByText('Cancelled: these are the places that were done by then.').isVisible());
    });
  });

  test('markup in a report stays text', async () => {
    const markup = '<img src=x onerror="sent.push(1)"><b>bold</b>';
    const strange: BenchmarkReport = {
      ...report,
      summary: markup,
      notes: [markup],
      model: { ...report.model, name: markup },
      tasks: report.tasks.map((task) => ({ ...task, path: markup })),
      traces: report.traces.map((trace) => ({ ...trace, before: markup })),
    };
    await withPanel({ ...idle, report: strange, previous: report }, async (page, panel) => {
      assert.equal(await page.locator('.summary').textContent(), markup);
      assert.equal(await page.locator('.text-before').textContent(), markup);
      assert.equal(await page.locator('main img, main b').count(), 0);
      assert.deepEqual(await panel.sent(), [{ type: 'ready' }]);
    });
  });

  test('an earlier run stands beside it, with what was different about it', async () => {
    const previous = { ...report, seed: 99, machine: { ...report.machine, cores: 64 } };
    await withPanel({ ...shown, previous }, async (page, panel) => {
      const comparison = page.locator('.comparison');
      assert.match((await comparison.textContent())!, /Machine: .*64 ×/s);
      assert.match((await comparison.textContent())!, /Seed: 3, earlier 99/);
      assert.equal(await comparison.locator('tbody tr').count(), report.algorithms.length);
      const bars = page.locator('.chart rect.bar');
      assert.equal(await bars.count(), 2 * report.algorithms.length);
      await page.getByRole('button', { name: 'Close Comparison' }).click();
      assert.deepEqual((await panel.sent()).at(-1), { type: 'closePrevious' });
    });
  });
});

describe('the timeline', () => {
  const trace = report.traces.find(({ steps }) => steps.some(hasBranches))!;

  /** The text that the timeline shows as written. */
  const written = async (page: Page) => (await page.locator('.text-step').allTextContents()).join('');
  const textOf = ({ steps }: CompletionTrace, done = steps.length) =>
    steps
      .slice(0, done)
      .map(({ text }) => text)
      .join('');
  const timeline = (step: number) => ({
    ...keptView,
    timeline: { task: trace.task, algorithm: trace.algorithm, step },
  });

  test('shows after each step the text so far, the tree with its outcomes and the bonus', async () => {
    const use = async (page: Page) => {
      await page.locator('.stage').focus();
      for (const [i, { drafted, bonus }] of trace.steps.entries()) {
        await page.keyboard.press('ArrowRight');
        assert.equal(await written(page), textOf(trace, i + 1));
        const count = (outcome: string) => page.locator(`.chip.is-${outcome}`).count();
        for (const outcome of ['accepted', 'rejected', 'unused']) {
          assert.equal(await count(outcome), drafted.filter((node) => node.outcome === outcome).length);
        }
        assert.equal(await count('bonus'), bonus ? 1 : 0);
        assert.match((await page.locator('.step-title').textContent())!, new RegExp(`^Step ${i + 1} of `));
      }
    };
    await withPanel(shown, use, { kept: timeline(0) });
  });

  test('every algorithm ends with the same text', async () => {
    await withPanel(shown, async (page) => {
      const algorithms = page.getByRole('combobox', { name: 'Algorithm' });
      const place = page.getByRole('combobox', { name: 'Place' });
      for (const task of new Set(report.traces.map(({ task }) => task))) {
        await place.selectOption(String(task));
        for (const algorithm of report.algorithms) {
          await algorithms.selectOption(algorithm);
          await page.getByRole('button', { name: 'Last step' }).click();
          const plain = report.traces.find((one) => one.task === task && one.algorithm === 'none')!;
          assert.equal(await written(page), textOf(plain), `${algorithm} at place ${task}`);
        }
      }
    });
  });

  test('buttons, keys, the slider and the strip lead to the same steps', async () => {
    const use = async (page: Page) => {
      const figure = page.locator('.transport-figure');
      const last = trace.steps.length;
      const at = async (step: number) => assert.equal(await figure.textContent(), `${step} / ${last}`);
      await page.getByRole('button', { name: 'Step forward' }).click();
      await at(3);
      await page.getByRole('button', { name: 'Step back' }).click();
      await at(2);
      await page.locator('.stage').focus();
      await page.keyboard.press('End');
      await at(last);
      await page.keyboard.press('Home');
      await at(0);
      await page.getByRole('slider', { name: 'Step' }).press('ArrowRight');
      await at(1);
      await page.locator('.strip-step').nth(3).click();
      await at(4);
    };
    await withPanel(shown, use, { kept: timeline(2) });
  });

  test('a button that led to an end keeps the focus and leads no further', async () => {
    const use = async (page: Page) => {
      const last = page.getByRole('button', { name: 'Last step' });
      await last.press('Enter');
      assert.ok(await last.isDisabled());
      assert.ok(await isFocused(last));
      await page.getByRole('button', { name: 'Step forward' }).press('Enter');
      const { length } = trace.steps;
      assert.equal(await page.locator('.transport-figure').textContent(), `${length} / ${length}`);
    };
    await withPanel(shown, use, { kept: timeline(0) });
  });

  test('the keys scroll code that is too wide, and step where it is not', async () => {
    const { length } = trace.steps;
    const press = (page: Page) => page.getByRole('region', { name: 'The code so far' }).press('ArrowRight');
    const at = async (page: Page, step: number) =>
      assert.equal(await page.locator('.transport-figure').textContent(), `${step} / ${length}`);
    // What a key scrolls is there with the next frame.
    const scrollLeftSoon = `new Promise((resolve) => {
      const read = () => resolve(document.querySelector('.timeline-text').scrollLeft);
      requestAnimationFrame(() => requestAnimationFrame(read));
    })`;
    const scrolls = async (page: Page) => {
      await press(page);
      await at(page, 0);
      assert.ok((await page.evaluate<number>(scrollLeftSoon)) > 0);
    };
    const steps = async (page: Page) => {
      await press(page);
      await at(page, 1);
    };
    await withPanel(shown, scrolls, { view: narrow, kept: timeline(0) });
    await withPanel(shown, steps, { view: wide, kept: timeline(0) });
  });

  test('plays by itself from where it is, and pauses', async () => {
    const use = async (page: Page) => {
      await page.locator('.stage').focus();
      await page.keyboard.press(' ');
      await page.getByText(`3 / ${trace.steps.length}`).waitFor();
      await page.getByRole('button', { name: 'Pause' }).click();
      const stopped = await page.locator('.transport-figure').textContent();
      await pause(1500);
      assert.equal(await page.locator('.transport-figure').textContent(), stopped);
    };
    await withPanel(shown, use, { kept: timeline(0) });
  });

  test('a panel that was hidden comes back at its step, its sorting and its choice', async () => {
    let kept: unknown;
    const look = async (page: Page, panel: BenchmarkPage) => {
      await page.getByRole('button', { name: 'Step forward' }).click();
      await page.getByRole('columnheader', { name: 'p99' }).getByRole('button').click();
      kept = await panel.kept();
    };
    await withPanel(shown, look, { kept: timeline(1) });
    const lookAgain = async (page: Page) => {
      assert.equal(await page.locator('.transport-figure').textContent(), `2 / ${trace.steps.length}`);
      assert.equal(
        await page.getByRole('columnheader', { name: 'p99' }).getAttribute('aria-sort'),
        'descending',
      );
    };
    await withPanel(shown, lookAgain, { kept });
  });
});

function hasBranches({ drafted }: TraceStep): boolean {
  return drafted.some(({ parent }, i) => drafted.slice(0, i).some((other) => other.parent === parent));
}

/** Whether it gets the keys. */
function isFocused(control: Locator): Promise<boolean> {
  return control.evaluate((element) => element === element.ownerDocument.activeElement);
}
