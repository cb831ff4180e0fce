import { useRef } from 'preact/hooks';

interface SplitterProps {
  /** What it makes larger or smaller. */
  readonly label: string;
  /** `vertical` stands between two columns. */
  readonly orientation: 'vertical' | 'horizontal';
  /** In percent, for screen readers. */
  readonly now: number;
  /** The pointer is at this share (0 to 1) of the parent's room; the caller keeps it within bounds. */
  readonly onMove: (share: number) => void;
}

/** The line between two panes: dragged, or moved with the arrow keys while it has the focus. */
export function Splitter({ label, orientation, now, onMove }: SplitterProps) {
  const line = useRef<HTMLDivElement>(null);
  const vertical = orientation === 'vertical';
  function share(event: PointerEvent): number {
    const room = line.current?.parentElement?.getBoundingClientRect();
    if (!room) return 0;
    return vertical
      ? (event.clientX - room.left) / room.width
      : (event.clientY - room.top) / room.height;
  }
  return (
    // biome-ignore lint/a11y/useSemanticElements: an <hr> cannot be moved; this is the window splitter of the ARIA practices
    <div
      ref={line}
      class={`splitter ${orientation}`}
      role="separator"
      tabIndex={0}
      aria-label={label}
      aria-orientation={orientation}
      aria-valuenow={Math.round(now)}
      aria-valuemin={0}
      aria-valuemax={100}
      onPointerDown={(event) => {
        event.preventDefault();
        event.currentTarget.setPointerCapture(event.pointerId);
      }}
      onPointerMove={(event) => {
        if (event.currentTarget.hasPointerCapture(event.pointerId)) onMove(share(event));
      }}
      onKeyDown={(event) => {
        const back = vertical ? 'ArrowLeft' : 'ArrowUp';
        const forth = vertical ? 'ArrowRight' : 'ArrowDown';
        if (event.key !== back && event.key !== forth) return;
        event.preventDefault();
        onMove(now / 100 + (event.key === back ? -0.03 : 0.03));
      }}
    />
  );
}
