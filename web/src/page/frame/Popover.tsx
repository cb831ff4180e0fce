import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

interface PopoverProps {
  /** Of the place; what floats is `.floating` in it. */
  readonly class: string;
  /** Of the button. */
  readonly button: string;
  /** Name of the button, where its content says too little, and of what it opens. */
  readonly label?: string | undefined;
  readonly title: string;
  /** Content of the button. */
  readonly face: ComponentChildren;
  /** Drawn while it is open. */
  readonly children: () => ComponentChildren;
  readonly onOpen?: () => void;
}

/**
 * A button of the header, and what floats below it once it is pressed: until it is pressed again, Escape, a press
 * elsewhere, or until the keyboard leaves it.
 */
export function Popover(props: PopoverProps) {
  const [open, setOpen] = useState(false);
  const place = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!open) return;
    const onPointer = (event: Event) => {
      if (!place.current?.contains(event.target as Node)) setOpen(false);
    };
    const onKey = (event: KeyboardEvent) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      setOpen(false);
      place.current?.querySelector('button')?.focus();
    };
    document.addEventListener('pointerdown', onPointer);
    // Of the document, since nothing has the keyboard once the text in it was pressed; and before what listens there.
    document.addEventListener('keydown', onKey, true);
    return () => {
      document.removeEventListener('pointerdown', onPointer);
      document.removeEventListener('keydown', onKey, true);
    };
  }, [open]);
  return (
    <div
      class={props.class}
      ref={place}
      onFocusOut={({ relatedTarget }) => {
        // Nothing has the keyboard while another window has it, or where a button was that has gone.
        if (relatedTarget && !place.current?.contains(relatedTarget as Node)) setOpen(false);
      }}
    >
      <button
        type="button"
        class={props.button}
        aria-expanded={open}
        aria-label={props.label}
        title={props.label}
        onClick={() => {
          setOpen(!open);
          if (!open) props.onOpen?.();
        }}
      >
        {props.face}
      </button>
      {open && (
        <section class="floating" aria-label={props.title}>
          {props.children()}
        </section>
      )}
    </div>
  );
}
