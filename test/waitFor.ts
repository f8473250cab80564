import assert from 'node:assert/strict';
import { setTimeout as pause } from 'node:timers/promises';

/**
 * Until it holds.
 * @param details what helps to see why it did not hold in time, such as a log
 * @throws AssertionError when that takes too long
 */
export async function waitFor(
  what: string,
  holds: () => boolean,
  timeoutMs = 15_000,
  details = () => '',
): Promise<void> {
  for (const from = performance.now(); !holds(); await pause(20)) {
    assert.ok(performance.now() - from < timeoutMs, `${what}: not within ${timeoutMs} ms\n${details()}`);
  }
}
