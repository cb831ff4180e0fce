import { computed, effect, signal } from '@preact/signals';
import type { Offer } from '../../../answers/wasm';
import type { EngineSettings } from '../../../protocol';
import { askAsAdmin, refused } from '../../engine/ask';
import { engineState } from '../../engine/cluster';
import { same, spell, without } from './settings-text';

/** What the engine that is ready runs with; null while there is none. */
export const running = computed<EngineSettings | null>(() =>
  engineState.value?.phase === 'ready' ? engineState.value.run.settings : null,
);
/** What it shall run with next. */
export const draft = signal<EngineSettings>({});
/** What there is to choose from for the version in the draft; null until the engine has told. */
export const offer = signal<Offer | null>(null);
export const changed = computed(() => running.value !== null && !same(draft.value, running.value));

/** Changes one setting of the draft. */
export function change(from: Offer, part: Partial<EngineSettings>): void {
  draft.value = without({ ...draft.value, ...part }, from);
}

let asked = 0;

/** Keeps draft and offer up to date while the settings are shown. Returns how to stop. */
export function followSettings(onTrouble: (words: string) => void): () => void {
  let before: string | null = null;
  const stopDraft = effect(() => {
    const now = running.value;
    if (!now) return;
    const text = spell(now);
    if (text !== before) draft.value = now;
    before = text;
  });
  const stopOffer = effect(() => {
    if (!running.value) return;
    const mine = ++asked;
    const version = draft.value.emulatedVersion ?? '';
    readOffer(version).then(
      (found) => {
        if (mine !== asked) return;
        offer.value = found;
        onTrouble('');
      },
      (error: unknown) => {
        if (mine === asked) onTrouble(error instanceof Error ? error.message : String(error));
      },
    );
  });
  return () => {
    stopDraft();
    stopOffer();
  };
}

async function readOffer(version: string): Promise<Offer> {
  const query = `?emulated-version=${encodeURIComponent(version)}`;
  const answer = await askAsAdmin('control', `/kubetab/settings${query}`);
  if (!answer.ok) throw refused(answer.status, await answer.text());
  return (await answer.json()) as Offer;
}

/** Why an engine would not start with these settings, in its own words; empty when it would. */
export async function refusalOf(settings: EngineSettings): Promise<string> {
  const answer = await askAsAdmin('control', '/kubetab/settings', {
    method: 'POST',
    body: JSON.stringify(settings),
  });
  return answer.ok ? '' : refused(answer.status, (await answer.text()).trim()).message;
}
