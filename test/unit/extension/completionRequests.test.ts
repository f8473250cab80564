import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as pause } from 'node:timers/promises';
import { type Ask, CompletionRequests } from '../../../extension/completionRequests.ts';
import type { Edit, Place } from '../../../extension/suggestionCache.ts';

function place(before: string): Place {
  return { uri: 'u', before, after: '' };
}

/** An engine that answers when it is told to. */
function engine() {
  const asked: { partial: (text: string) => void; answer: (edit?: Edit) => void; cancelled: AbortSignal }[] =
    [];
  const ask: Ask = (partial, cancelled) =>
    new Promise((answer) => {
      asked.push({ partial, answer: (edit) => answer(edit), cancelled });
      cancelled.addEventListener('abort', () => answer(undefined));
    });
  return { ask, asked };
}

const stays = { turnedAway: new AbortController().signal, whereNow: () => place('') };

/** Somebody who turns away when told to, having typed to some place. */
function leaver(typedTo: Place) {
  const abort = new AbortController();
  return { asker: { turnedAway: abort.signal, whereNow: () => typedTo }, leave: () => abort.abort() };
}

const insertion = (at: Place, text: string): Edit => ({
  start: at.before.length,
  end: at.before.length,
  text,
});
const lingered = () => pause(120);

test('who asks for the same place joins the request under way', async () => {
  const requests = new CompletionRequests();
  const { ask, asked } = engine();
  const answers = [1, 2].map(() => requests.request(place('a'), ask, stays));
  assert.equal(asked.length, 1);
  asked[0].answer(insertion(place('a'), 'bc'));
  assert.deepEqual(await Promise.all(answers), Array(2).fill(insertion(place('a'), 'bc')));
});

test('who typed what is being generated joins and gets the rest; anything else takes its place', async () => {
  const requests = new CompletionRequests();
  const { ask, asked } = engine();
  const first = requests.request(place('a'), ask, stays);
  asked[0].partial('bcd');
  const joined = requests.request(place('ab'), ask, stays);
  assert.equal(asked.length, 1);
  const other = requests.request(place('ax'), ask, stays);
  assert.equal(asked.length, 2);
  assert.ok(asked[0].cancelled.aborted);
  assert.equal(await first, undefined);
  assert.equal(await joined, undefined);
  asked[1].answer(insertion(place('ax'), 'y'));
  assert.equal((await other)?.text, 'y');

  const third = requests.request(place('a'), ask, stays);
  asked[2].partial('bcd');
  const rest = requests.request(place('ab'), ask, stays);
  asked[2].answer(insertion(place('a'), 'bcde'));
  assert.equal((await third)?.text, 'bcde');
  assert.deepEqual(await rest, insertion(place('ab'), 'cde'));
});

test('brackets that the editor closed by itself do not keep who typed along from joining', async () => {
  for (const [before, after] of [
    ['f(', ')'],
    ['f([', '])'],
    ['f([]', ')'],
  ]) {
    const requests = new CompletionRequests();
    const { ask, asked } = engine();
    // When VS Code cancels, only the text is known, not where the cursor is in it.
    const { asker, leave } = leaver(place(before + after));
    const first = requests.request(place('f'), ask, asker);
    asked[0].partial('([], b');
    leave();
    const joined = requests.request({ uri: 'u', before, after }, ask, stays);
    assert.equal(asked.length, 1, before);
    asked[0].answer(insertion(place('f'), '([], b);'));
    assert.equal(await first, undefined);
    assert.ok((await joined)?.text.endsWith(' b);'), before);
  }
});

test('who typed ahead of what a request came to in the end gets a request of their own', async () => {
  const requests = new CompletionRequests();
  const { ask, asked } = engine();
  const first = requests.request(place('a'), ask, stays);
  asked[0].partial('bcde');
  const ahead = requests.request(place('abcd'), ask, stays);
  asked[0].answer(insertion(place('a'), 'bc'));
  assert.equal((await first)?.text, 'bc');
  await new Promise(setImmediate);
  assert.equal(asked.length, 2);
  asked[1].answer(insertion(place('abcd'), 'e'));
  assert.equal((await ahead)?.text, 'e');
});

test('a request that nobody waits for any more is called off at once', async () => {
  for (const typedTo of [place('a'), place('ax'), place('')]) {
    const requests = new CompletionRequests();
    const { ask, asked } = engine();
    const { asker, leave } = leaver(typedTo);
    const answer = requests.request(place('a'), ask, asker);
    asked[0].partial('bcd');
    leave();
    assert.ok(asked[0].cancelled.aborted, `typed to ${typedTo.before}`);
    assert.equal(await answer, undefined);
  }
});

test('one that generates what is typed waits a moment for who joins', async () => {
  const requests = new CompletionRequests();
  const { ask, asked } = engine();
  const { asker, leave } = leaver(place('ab'));
  const left = requests.request(place('a'), ask, asker);
  asked[0].partial('bcd');
  leave();
  assert.ok(!asked[0].cancelled.aborted);
  const joined = requests.request(place('ab'), ask, stays);
  await lingered();
  assert.ok(!asked[0].cancelled.aborted);
  asked[0].answer(insertion(place('a'), 'bcd'));
  assert.equal((await joined)?.text, 'cd');
  assert.equal(await left, undefined);
});

test('each time somebody leaves, it waits anew', async () => {
  const requests = new CompletionRequests();
  const { ask, asked } = engine();
  let at = 'a';
  const answers: Promise<unknown>[] = [];
  for (const typed of ['b', 'c', 'd', 'e']) {
    const { asker, leave } = leaver(place(at + typed));
    answers.push(requests.request(place(at), ask, asker));
    asked[0].partial('bcdefgh');
    leave();
    await pause(50); // VS Code's debounce: the timer of who left first would end in the second one's wait
    at += typed;
    assert.ok(!asked[0].cancelled.aborted, `waiting at ${at}`);
  }
  const last = requests.request(place(at), ask, stays);
  asked[0].answer(insertion(place('a'), 'bcdefgh'));
  assert.equal((await last)?.text, 'fgh');
  assert.equal(asked.length, 1);
  assert.deepEqual(await Promise.all(answers), Array(4).fill(undefined));
});

test('and is called off when nobody does', async () => {
  const requests = new CompletionRequests();
  const { ask, asked } = engine();
  const { asker, leave } = leaver(place('ab'));
  const left = requests.request(place('a'), ask, asker);
  asked[0].partial('bcd');
  leave();
  await lingered();
  assert.ok(asked[0].cancelled.aborted);
  assert.equal(await left, undefined);
});

test('a fault reaches everybody who waits, and the next one asks anew', async () => {
  const requests = new CompletionRequests();
  const fault = new Error('fault');
  const failing: Ask = () => Promise.reject(fault);
  await assert.rejects(requests.request(place('a'), failing, stays), fault);
  const { ask, asked } = engine();
  const answer = requests.request(place('a'), ask, stays);
  asked[0].answer(insertion(place('a'), 'b'));
  assert.equal((await answer)?.text, 'b');
});
