import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Needed, seldom } from './needed.mjs';

/** Attempts with these errors, none for undefined. */
function attempts(...errors) {
  const told = [];
  let made = 0;
  const done = seldom({ diagnostic: (text) => told.push(text) }, async () => {
    const error = errors[made++];
    if (error) throw error;
  });
  return { done, told, made: () => made };
}

test('what is needed once is told, and no failure', async () => {
  const { done, told, made } = attempts(new Needed('f is called'), undefined);
  await done;
  assert.deepEqual([made(), told], [2, ['f is called']]);
});

test('what is needed twice in a row fails', async () => {
  const { done, made } = attempts(new Needed('f is called'), new Needed('g is called'));
  await assert.rejects(done, /g is called/);
  assert.equal(made(), 2);
});

test('what fails for another reason fails at once', async () => {
  const { done, told, made } = attempts(new Error('no such command'));
  await assert.rejects(done, /no such command/);
  assert.deepEqual([made(), told], [1, []]);
});
