import { batch, signal } from '@preact/signals';
import { nameHere } from '../engine/name-here';
import { siteStorage } from '../engine/storage';
import type { Chinese } from './chinese';
import { LANGUAGES, type Language, language } from './current';

/*
 * A view keeps its English sentences beside it in words.ts and the Chinese ones in words.zh.ts; the type of the former is
 * the contract of the latter, so a missing or superfluous sentence does not compile. All Chinese is one chunk, loaded
 * when it is first wanted.
 *
 *   words.ts     const english = {...}          words = catalogue(english, (chinese) => chinese.files)
 *   words.zh.ts  const chinese: Words = {...}   collected in chinese.ts
 *
 * A component that reads `words` while it is drawn is drawn again when the language changes. What the API server,
 * kubectl or an object says stays as it was said; such places are marked translate="no".
 */

const KEY = nameHere('kubetab.language');
const PARAMETER = 'lang';
const TAGS: Readonly<Record<Language, string>> = { en: 'en', zh: 'zh-Hans' };

const chinese = signal<Chinese | null>(null);

/**
 * The sentences of a part of the page in the language that is shown. Only for reading at the moment of use: a constant
 * that is made of them once would stay in the language of that moment.
 */
export function catalogue<T extends object>(english: T, pick: (chinese: Chinese) => T): T {
  return new Proxy(english, {
    get: (_, key) =>
      Reflect.get(language.value === 'zh' && chinese.value ? pick(chinese.value) : english, key),
  });
}

/** To be called once, before anything is drawn. English when the Chinese sentences cannot be had. */
export async function openLanguage(): Promise<void> {
  const asked = new URL(location.href).searchParams.get(PARAMETER);
  const wanted = known(asked) ?? known(siteStorage.text(KEY)) ?? preferred(navigator.languages);
  await show(wanted).catch(() => show('en'));
}

/**
 * Changes the language of the page and keeps the choice. An address that names one names the new one from then on.
 *
 * @throws TypeError when the sentences cannot be loaded; the language then stays as it is
 */
export async function chooseLanguage(next: Language): Promise<void> {
  await show(next);
  siteStorage.keepText(KEY, next);
  const address = new URL(location.href);
  if (!address.searchParams.has(PARAMETER)) return;
  address.searchParams.set(PARAMETER, next);
  history.replaceState(history.state, '', address);
}

async function show(next: Language): Promise<void> {
  const loaded = next === 'zh' ? (await import('./chinese')).chinese : chinese.peek();
  batch(() => {
    chinese.value = loaded;
    language.value = next;
  });
  document.documentElement.lang = TAGS[next];
}

/** The first of a visitor's languages that the page speaks. Readers of Traditional Chinese have said what they read. */
export function preferred(wishes: readonly string[]): Language {
  for (const wish of wishes) {
    if (/^en\b/i.test(wish)) return 'en';
    if (/^zh\b(?!-(hant|tw|hk|mo)\b)/i.test(wish)) return 'zh';
  }
  return 'en';
}

function known(name: string | null): Language | null {
  if (name === null) return null;
  return Object.hasOwn(LANGUAGES, name) ? (name as Language) : null;
}
