import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { words } from '../words';
import { Icon } from './icons';

interface DialogProps {
  readonly class: string;
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** What is dealt with before the page is gone on with. Escape and a press beside it close it. */
export function Dialog(props: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  useLayoutEffect(() => {
    const opened = dialog.current;
    opened?.showModal();
    return () => opened?.close(); // gives the keyboard back to what had it
  }, []);
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: a dialog closes on Escape by itself
    <dialog
      ref={dialog}
      class={`dialog ${props.class}`}
      aria-label={props.title}
      onCancel={(event) => {
        event.preventDefault();
        props.onClose();
      }}
      onClick={(event) => {
        if (event.target === dialog.current) props.onClose();
      }}
    >
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
