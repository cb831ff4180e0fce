import { effect, signal, untracked } from '@preact/signals';
import { keepFiles, ready } from './cluster';

// An engine that has just started has one thread, and is asked for everything at once. What somebody waits for comes first: the
// lines that were typed ahead, then what is seen, and then what may be wanted later on.

/** Milliseconds after which a line that was typed ahead holds back nothing: it may be one that does not end. */
const MOST = 2000;

/** Milliseconds from which on what is seen has been asked for. */
const ASKED = 400;

/** Whether lines that were typed before the engine was ready have no answer yet. The terminal says so. */
export const typedAhead = signal(false);
/** Whether what is seen may be asked for. */
export const mayShow = signal(false);
/** Whether what nobody waits for may be asked for. */
export const mayPrepare = signal(false);

let timer: ReturnType<typeof setTimeout> | undefined;

/** Follows the engine from its start on. To be called once. */
export function followFirstMoments(): void {
  effect(() => {
    const isReady = ready.value;
    const waits = typedAhead.value;
    untracked(() => {
      if (!isReady) {
        clearTimeout(timer);
        mayShow.value = mayPrepare.value = false;
      } else if (!mayShow.value) {
        clearTimeout(timer);
        if (waits) timer = setTimeout(show, MOST);
        else show();
      }
    });
  });
}

function show(): void {
  mayShow.value = true;
  timer = setTimeout(() => {
    mayPrepare.value = true;
    keepFiles();
  }, ASKED);
}

/** Resolves when what nobody waits for may be asked for, or when there is no engine to ask any more. */
export function untilMayPrepare(): Promise<void> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      if (!mayPrepare.value && ready.value) return;
      queueMicrotask(() => stop());
      resolve();
    });
  });
}
