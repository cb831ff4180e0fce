import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { route } from '../../frame/route';

/** Brings a part of the settings into sight that the address names: `#settings/engine`. @param path with its `/` */
export function useMeant(
  path: string,
  block: ScrollLogicalPosition,
): RefObject<HTMLElement | null> {
  const isMeant = route.value.path === path;
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    if (isMeant) place.current?.scrollIntoView({ block });
  }, [isMeant]);
  return place;
}
