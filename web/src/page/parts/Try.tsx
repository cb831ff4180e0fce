import { focusTerminal } from '../frame/focus-terminal';
import { typeIntoTerminal } from '../terminal/shell';
import { words } from '../words';

const CLEAR_LINE = '\x15';

/** A command to begin with, one click away from the prompt: it is put there, and not run. */
export function Try({ command }: { readonly command: string }) {
  return (
    <p class="try">
      <code>{command}</code>
      <button
        type="button"
        class="link"
        onClick={() => {
          typeIntoTerminal(`${CLEAR_LINE}${command}`);
          focusTerminal();
        }}
      >
        {words.tryIt}
      </button>
    </p>
  );
}
