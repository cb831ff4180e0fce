import { notice } from '../engine/cluster';
import { words } from '../words';
import { LANGUAGES, type Language, language } from './current';
import { chooseLanguage } from './language';

const NAMES = Object.entries(LANGUAGES) as [Language, string][];

/** Each language by its own name, for those who cannot read the other. */
export function LanguageMenu() {
  return (
    <select
      class="field language-menu"
      aria-label={words.language.label}
      title={words.language.label}
      value={language.value}
      onChange={(event) => {
        const menu = event.currentTarget;
        const next = NAMES.find(([id]) => id === menu.value)?.[0];
        if (next)
          void changeLanguage(next).finally(() => {
            menu.value = language.value;
          });
      }}
    >
      {NAMES.map(([id, name]) => (
        <option key={id} value={id} lang={id} translate={false}>
          {name}
        </option>
      ))}
    </select>
  );
}

/** As `chooseLanguage`; says so when it cannot be done. */
export async function changeLanguage(next: Language): Promise<void> {
  try {
    await chooseLanguage(next);
  } catch {
    notice.value = { text: () => words.language.missing };
  }
}
