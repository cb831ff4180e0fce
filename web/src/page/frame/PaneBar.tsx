import type { ComponentChildren } from 'preact';
import { words } from '../words';
import { Icon } from './icons';
import { type Maximised, maximised, toggleMaximised } from './layout';

interface PaneBarProps {
  readonly pane: Maximised;
  readonly children: ComponentChildren;
}

/** The bar above a pane. A double click on it, or its last button, lets the pane fill the frame and shrinks it again. */
export function PaneBar({ pane, children }: PaneBarProps) {
  const full = maximised.value === pane;
  const label = full ? words.pane.restore : words.pane.maximise;
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the double click has a button that does the same
    <div
      class="pane-bar"
      onDblClick={(event) => {
        if (!(event.target as Element).closest('button, input, select')) toggleMaximised(pane);
      }}
    >
      {children}
      <button
        type="button"
        class="icon-button maximise"
        aria-label={label}
        title={label}
        onClick={() => toggleMaximised(pane)}
      >
        <Icon name={full ? 'shrink' : 'grow'} size={15} />
      </button>
    </div>
  );
}
