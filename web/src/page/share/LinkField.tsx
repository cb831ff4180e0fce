import { useSignal } from '@preact/signals';
import { useRef } from 'preact/hooks';
import { words } from './words';

interface LinkFieldProps {
  readonly label: string;
  /** Empty while it is being made. */
  readonly link: string;
  readonly note?: string;
}

/** A link to be copied; by hand where the page may not. */
export function LinkField({ label, link, note }: LinkFieldProps) {
  const field = useRef<HTMLInputElement>(null);
  const copied = useSignal('');
  const copy = async () => {
    field.current?.select();
    try {
      await navigator.clipboard.writeText(link);
      copied.value = link;
    } catch {
      // The link is selected: the browser's own way is one key away.
    }
  };
  return (
    <>
      <div class="link-field">
        <input
          ref={field}
          class="field"
          readOnly
          aria-label={label}
          translate={false}
          value={link}
          onFocus={(event) => event.currentTarget.select()}
        />
        <button type="button" class="button small" disabled={!link} onClick={() => void copy()}>
          {copied.value === link && link ? words.copied : words.copy}
        </button>
      </div>
      {note && <p class="faint">{note}</p>}
    </>
  );
}
