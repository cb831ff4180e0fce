import { go } from '../frame/route';
import { words } from '../words';
import { ADMIN, EDITOR, type Identity, identity, VIEWER } from './identity';

const PLAIN: readonly Identity[] = [ADMIN, EDITOR, VIEWER];

/** Who the page's requests are from. Anybody but the administrator is shown in a colour that one does not forget. */
export function IdentityMenu() {
  const now = identity.value;
  const known = PLAIN.some(({ name }) => name === now.name);
  const label = (who: Identity) =>
    who === ADMIN
      ? words.identity.admin
      : who === EDITOR
        ? words.identity.editor
        : words.identity.viewer;
  return (
    <div class={`identity ${now.kind === 'admin' ? '' : 'is-other'}`}>
      <select
        aria-label={words.identity.label}
        title={words.identity.label}
        value={now.name}
        onChange={(event) => {
          const { value } = event.currentTarget;
          const next = PLAIN.find(({ name }) => name === value);
          if (next) identity.value = next;
          else if (value !== now.name) {
            event.currentTarget.value = now.name;
            go('settings');
          }
        }}
      >
        {PLAIN.map((who) => (
          <option key={who.name} value={who.name}>
            {label(who)}
          </option>
        ))}
        {!known && <option value={now.name}>{now.name.split(':').slice(-2).join('/')}</option>}
        <option value="">{words.identity.more}</option>
      </select>
    </div>
  );
}
