import { useSignal } from '@preact/signals';
import { words } from '../words';

interface CopyProps {
  readonly label: string;
  /** Where the label is more than the name of a form. */
  readonly title?: string;
  readonly text: () => string;
}

/** Copies a text, and says so for a moment on the button itself. */
export function CopyButton({ label, title, text }: CopyProps) {
  const done = useSignal(false);
  return (
    <button
      type="button"
      class="link"
      title={title ?? words.copy.as(label)}
      onClick={() => {
        void navigator.clipboard.writeText(text()).then(() => {
          done.value = true;
          setTimeout(() => {
            done.value = false;
          }, 1500);
        });
      }}
    >
      {done.value ? words.copy.done : label}
    </button>
  );
}
