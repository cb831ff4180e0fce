import { computed, effect } from '@preact/signals';
import type { Lesson } from '../../../answers/lessons';
import type { EngineSettings, Run } from '../../../protocol';
import { same, spell } from '../../control/settings/settings-text';
import { engineState, restartEngine } from '../../engine/cluster';

/** How the engine that is ready came to be; null while there is none. */
export const run = computed<Run | null>(() =>
  engineState.value?.phase === 'ready' ? engineState.value.run : null,
);

/** Whether a lesson is about settings of the engine: it begins with those that it names, and with no others. */
export function setsEngine(lesson: Lesson): boolean {
  return Boolean(lesson.engine) || lesson.steps.some(({ engine }) => engine);
}

/** Settings as kube-apiserver's flags; none for the usual ones. */
export function flagsOf(settings: EngineSettings): readonly string[] {
  return spell(settings)
    .split('&')
    .filter(Boolean)
    .map((flag) => `--${decodeURIComponent(flag)}`);
}

/** Those that a step asks for. How many nodes there are, and which controllers, is left to the learner. */
function merged(wanted: EngineSettings, now: EngineSettings): EngineSettings {
  const { emulatedVersion: _, runtimeConfig: __, featureGates: ___, ...others } = now;
  return { ...others, ...wanted };
}

/** Whether the engine runs with the settings that a step asks for. */
export function runsWith(wanted: EngineSettings): boolean {
  return run.value !== null && same(merged(wanted, run.value.settings), run.value.settings);
}

/**
 * Starts the engine again with what a step asks for, on the same objects. Resolves when the engine was asked to
 * restart: with its reason if it refuses, otherwise with nothing.
 *
 * @throws Error when the engine cannot be asked
 */
export async function restartWith(wanted: EngineSettings): Promise<string> {
  const settings = merged(wanted, run.value?.settings ?? {});
  const { refusalOf } = await import('../../control/settings/engine-settings');
  const refusal = await refusalOf(settings);
  if (!refusal) restartEngine('kept', settings);
  return refusal;
}

/** Resolves when an engine is ready with what a step asks for: true; false when it has refused. */
export function untilRunsWith(wanted: EngineSettings): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = effect(() => {
      const isSo = runsWith(wanted);
      if (!isSo && !run.value?.refused) return;
      queueMicrotask(() => stop());
      resolve(isSo);
    });
  });
}
