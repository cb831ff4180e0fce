import { signal } from '@preact/signals';
import { nameHere } from '../engine/name-here';
import { siteStorage } from '../engine/storage';

/** Sizes of the panes as the visitor left them: shares of the room there is, and the drawer's height in pixels. */
export interface Layout {
  /** Of the width, for the left pane. */
  readonly left: number;
  /** Of the width, for a lesson. */
  readonly guide: number;
  /** What stands above the terminal beside a lesson. */
  readonly stage: 'picture' | 'files';
  /** Of the right column's height, for the editor. */
  readonly editor: number;
  readonly drawer: number;
  readonly drawerOpen: boolean;
}

/** A pane that fills the frame until it is made small again. */
export type Maximised = 'left' | 'editor' | 'terminal' | 'drawer';

const KEY = nameHere('kubetab.layout');
const FIRST: Layout = {
  left: 0.54,
  guide: 0.36,
  stage: 'picture',
  editor: 0.58,
  drawer: 320,
  drawerOpen: false,
};

export const layout = signal<Layout>(kept());
export const maximised = signal<Maximised | null>(null);

export function arrange(change: Partial<Layout>): void {
  layout.value = { ...layout.value, ...change };
  siteStorage.keep(KEY, layout.value);
}

export function toggleMaximised(pane: Maximised): void {
  maximised.value = maximised.value === pane ? null : pane;
}

function kept(): Layout {
  const found = siteStorage.value<Partial<Layout>>(KEY) ?? {};
  return {
    left: within(found.left, 0.2, 0.85, FIRST.left),
    guide: within(found.guide, 0.2, 0.85, FIRST.guide),
    stage: found.stage === 'files' ? 'files' : 'picture',
    editor: within(found.editor, 0.1, 0.9, FIRST.editor),
    drawer: within(found.drawer, 120, 2000, FIRST.drawer),
    drawerOpen: found.drawerOpen === true,
  };
}

function within(value: unknown, least: number, most: number, otherwise: number): number {
  return typeof value === 'number' && value >= least && value <= most ? value : otherwise;
}
