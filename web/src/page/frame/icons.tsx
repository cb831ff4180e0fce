/** Drawn on a grid of 20, in strokes of the text's colour. */
const PATHS = {
  lessons:
    'M10 5.5C8 4 5.5 3.5 2.5 3.5v12c3 0 5.5.5 7.5 2 2-1.5 4.5-2 7.5-2v-12c-3 0-5.5.5-7.5 2zM10 5.5v12',
  cluster: 'M10 2.5l6.5 3.75v7.5L10 17.5l-6.5-3.75v-7.5zM10 10l6.5-3.75M10 10v7.5M10 10L3.5 6.25',
  files: 'M5 2.5h6l4 4v11H5zM11 2.5v4h4M7.5 10.5h5M7.5 13.5h5',
  terminal: 'M2.5 4h15v12h-15zM5.5 8l2.5 2-2.5 2M10 12.5h4',
  requests: 'M3 6.5h12M12 3.5l3 3-3 3M17 13.5H5M8 10.5l-3 3 3 3',
  console: 'M3 4.5h14v4H3zM3 11.5h9v4H3zM15 11.5v4',
  settings: 'M3 6h8M15 6h2M3 14h2M9 14h8M13 4v4M7 12v4',
  search: 'M9 3.5a5.5 5.5 0 1 0 0 11 5.5 5.5 0 0 0 0-11zM13 13l4 4',
  grow: 'M11.5 3.5h5v5M8.5 16.5h-5v-5M16.5 3.5l-5 5M3.5 16.5l5-5',
  shrink: 'M16.5 8.5h-5v-5M3.5 11.5h5v5M11.5 8.5l5-5M8.5 11.5l-5 5',
  up: 'M5 12l5-5 5 5',
  down: 'M5 8l5 5 5-5',
  close: 'M5 5l10 10M15 5L5 15',
  plus: 'M10 4v12M4 10h12',
  play: 'M6.5 4v12l9-6z',
  pause: 'M7 4.5v11M13 4.5v11',
  share: 'M10 12.5v-10M6.5 6L10 2.5 13.5 6M5 9.5H3.5v8h13v-8H15',
  more: 'M5 10h.01M10 10h.01M15 10h.01',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg
      class="icon"
      viewBox="0 0 20 20"
      width={size}
      height={size}
      fill="none"
      stroke="currentColor"
      stroke-width={name === 'more' ? 2.4 : 1.5}
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
