import { hasPane } from '../engine/here';
import { focusTerminal } from '../frame/focus-terminal';
import { typeIntoTerminal } from '../terminal/shell';
import { words } from '../words';
import { whole } from './whole';

const CLEAR_LINE = '\x15';

interface TryProps {
  readonly command: string;
  /** Called first: to get out of the terminal's way. */
  readonly onTry?: () => void;
}

/** A command to begin with, one click away from the prompt: it is put there, and not run. Nothing where there is no prompt. */
export function Try({ command, onTry }: TryProps) {
  if (!hasPane('terminal')) return null;
  return (
    <p class="try">
      <code>{whole(command)}</code>
      <button
        type="button"
        class="link"
        onClick={() => {
          onTry?.();
          typeIntoTerminal(`${CLEAR_LINE}${command}`);
          focusTerminal();
        }}
      >
        {words.tryIt}
      </button>
    </p>
  );
}
