import { useSignal } from '@preact/signals';
import { words } from '../words';
import type { Draft } from './draft';
import { asCurl, asFetch } from './snippets';

/** Copies the request as a command or a call, or the answer. Says so for a moment on the button itself. */
export function CopyMenu({ request, text }: { request: Draft; text: string | null }) {
  const done = useSignal('');
  const copy = async (what: string, value: string) => {
    await navigator.clipboard.writeText(value);
    done.value = what;
    setTimeout(() => {
      if (done.value === what) done.value = '';
    }, 1500);
  };
  const item = (what: string, value: () => string) => (
    <button
      key={what}
      type="button"
      class="link"
      title={words.response.copyAs(what)}
      onClick={() => void copy(what, value())}
    >
      {done.value === what ? words.response.copied : what}
    </button>
  );
  return (
    <fieldset class="copy">
      <legend class="faint">{words.response.copy}</legend>
      {item(words.response.copyCurl, () => asCurl(request))}
      {item(words.response.copyFetch, () => asFetch(request))}
      {text !== null && item(words.response.copyBody, () => text)}
    </fieldset>
  );
}
