import type { ComponentChildren } from 'preact';
import { useRef } from 'preact/hooks';

interface TabsProps {
  /** Prefix of the ids: `<name>-<id>` for a tab, `<name>-panel` for what it controls. */
  readonly name: string;
  readonly label: string;
  readonly tabs: readonly { readonly id: string; readonly label: string }[];
  readonly chosen: string;
  readonly onChoose: (id: string) => void;
  /** Shown at the far end of the row. */
  readonly children?: ComponentChildren;
}

/** A row of tabs after the ARIA authoring practices: one stop for Tab, arrows move and choose. */
export function Tabs({ name, label, tabs, chosen, onChoose, children }: TabsProps) {
  const row = useRef<HTMLDivElement>(null);
  function onKeyDown(event: KeyboardEvent): void {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const at = tabs.findIndex(({ id }) => id === chosen);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (!next) return;
    onChoose(next.id);
    row.current?.querySelector<HTMLElement>(`#${name}-${next.id}`)?.focus();
  }
  return (
    <div class="tabs">
      <div ref={row} role="tablist" class="tab-row" aria-label={label} onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <button
            key={tab.id}
            id={`${name}-${tab.id}`}
            type="button"
            role="tab"
            aria-selected={tab.id === chosen}
            aria-controls={`${name}-panel`}
            tabIndex={tab.id === chosen ? 0 : -1}
            onClick={() => onChoose(tab.id)}
          >
            {tab.label}
          </button>
        ))}
      </div>
      <div class="tab-end">{children}</div>
    </div>
  );
}
