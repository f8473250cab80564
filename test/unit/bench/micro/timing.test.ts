import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OtherWork } from '../../../../engine/bench/micro/otherWork.ts';
import { elapsedMs, elapsedMsAsync, shareText, shortMs } from '../../../../engine/bench/micro/timing.ts';

function spin(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

test('work too short for the clock is timed by the run, not by the sample', () => {
  let runs = 0;
  const ms = shortMs(() => {
    runs++;
    spin(0.01);
  });
  assert.ok(ms >= 0.009, `${ms}`);
  // A sample of ten runs takes ten times as long.
  assert.ok(ms < 0.09, `${ms}`);
  assert.ok(runs >= 201 * 5, `${runs}`);
});

test('work that takes longer than a sample is run once a sample', () => {
  let runs = 0;
  const ms = shortMs(() => {
    runs++;
    spin(0.5);
  });
  assert.ok(ms >= 0.5, `${ms}`);
  // After a warm-up of 20 runs.
  assert.ok(runs >= 201 && runs <= 201 + 21, `${runs}`);
});

test('what is waited for counts', async () => {
  assert.ok((await elapsedMsAsync(() => new Promise((resolve) => setTimeout(resolve, 20)))) >= 19);
});

test('other work takes the time that it is given', () => {
  const work = new OtherWork();
  assert.ok(elapsedMs(() => work.run(5)) >= 5);
});

test('a share is of a pass', () => {
  assert.equal(shareText(0.05, 2), '2.5 % of a pass');
});
