import { useSignal } from '@preact/signals';
import { words } from '../words';

/** Copies a text, and says so for a moment on the button itself. */
export function CopyButton({ label, text }: { label: string; text: () => string }) {
  const done = useSignal(false);
  return (
    <button
      type="button"
      class="link"
      title={words.copy.as(label)}
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
