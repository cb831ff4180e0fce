import { effect, signal } from '@preact/signals';
import { ready } from '../engine/cluster';

/**
 * While this is true, no shell is opened although the engine is ready: a lesson has yet to create its first objects,
 * and to set the namespace of commands. Typed text waits meanwhile, as it waits for the engine.
 */
export const shellHeld = signal(false);

/** For how long at most an engine is ready meanwhile, in ms: a shell is of more use than none, whatever a lesson waits for. */
const LONGEST = 60_000;

/** Resolves when an engine is ready in which a shell may be opened. */
export function untilLetGo(): Promise<void> {
  return new Promise((resolve) => {
    let late: ReturnType<typeof setTimeout> | undefined;
    const stop = effect(() => {
      const isReady = ready.value;
      const isHeld = shellHeld.value;
      clearTimeout(late);
      if (isReady && isHeld) {
        late = setTimeout(() => {
          shellHeld.value = false;
        }, LONGEST);
      } else if (isReady) {
        queueMicrotask(() => stop());
        resolve();
      }
    });
  });
}
