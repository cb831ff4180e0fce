import type { RefObject } from 'preact';
import { useEffect, useState } from 'preact/hooks';

/** Which of many rows of one height are worth drawing: those in sight and some around them. */
export interface RowWindow {
  readonly first: number;
  /** Exclusive. */
  readonly end: number;
  /** Pixels that the rows before `first` and from `end` on would take. */
  readonly above: number;
  readonly below: number;
}

const AROUND = 12;

/** @param scroller the element that scrolls; its content before the rows is taken to be small */
export function useRowWindow(
  scroller: RefObject<HTMLElement | null>,
  count: number,
  rowHeight: number,
): RowWindow {
  const [seen, see] = useState({ top: 0, height: 800 });
  useEffect(() => {
    const element = scroller.current;
    if (!element) return;
    const look = () => {
      const top = Math.floor(element.scrollTop / rowHeight) * rowHeight;
      const height = element.clientHeight;
      see((before) => (before.top === top && before.height === height ? before : { top, height }));
    };
    look();
    element.addEventListener('scroll', look, { passive: true });
    const resized = new ResizeObserver(look);
    resized.observe(element);
    return () => {
      element.removeEventListener('scroll', look);
      resized.disconnect();
    };
  }, [rowHeight]);
  const first = Math.max(Math.min(Math.floor(seen.top / rowHeight), count) - AROUND, 0);
  const end = Math.min(first + Math.ceil(seen.height / rowHeight) + 2 * AROUND, count);
  return { first, end, above: first * rowHeight, below: (count - end) * rowHeight };
}
