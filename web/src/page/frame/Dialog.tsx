import type { ComponentChildren, RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { words } from '../words';
import { Icon } from './icons';

/**
 * How a modal dialog is left: by Escape, which the page below shall not take for its own, and by a press beside it - not
 * by one that began inside, as when text is selected, and ended there.
 */
export function useLeaving(dialog: RefObject<HTMLDialogElement | null>, onClose: () => void) {
  const isBeside = useRef(false);
  return {
    onKeyDown: (event: KeyboardEvent) => {
      if (event.key !== 'Escape' || event.isComposing || event.defaultPrevented) return;
      event.preventDefault();
      onClose();
    },
    // What else asks for it, as a phone's way back.
    onCancel: (event: Event) => {
      event.preventDefault();
      onClose();
    },
    onPointerDown: ({ target }: Event) => {
      isBeside.current = target === dialog.current;
    },
    onClick: ({ target }: Event) => {
      if (isBeside.current && target === dialog.current) onClose();
    },
  };
}

interface DialogProps {
  readonly class: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** What is dealt with before the page is gone on with. */
export function Dialog(props: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const leaving = useLeaving(dialog, props.onClose);
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close(); // gives the keyboard back to what had it
  }, []);
  return (
    <dialog ref={dialog} class={`dialog ${props.class}`} aria-label={props.title} {...leaving}>
      <div class="dialog-head">
        <h2>{props.title}</h2>
        <button
          type="button"
          class="icon-button"
          aria-label={words.close}
          title={words.close}
          onClick={props.onClose}
        >
          <Icon name="close" size={15} />
        </button>
      </div>
      <div class="dialog-body">{props.children}</div>
    </dialog>
  );
}
