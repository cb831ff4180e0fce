import { useSignal } from '@preact/signals';
import { words as frameWords } from '../../words';
import type { Draft } from '../draft';
import { asCurl, asFetch } from '../snippets';
import { words } from '../words';

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
  const item = (what: string, title: string, value: () => string) => (
    <button
      key={what}
      type="button"
      class="link"
      title={title}
      onClick={() => void copy(what, value())}
    >
      {done.value === what ? frameWords.copy.done : what}
    </button>
  );
  const { response } = words;
  return (
    <fieldset class="copy">
      <legend class="faint">{words.response.copy}</legend>
      {item('curl', response.copyAs('curl'), () => asCurl(request))}
      {item('fetch', response.copyAs('fetch'), () => asFetch(request))}
      {text !== null && item(response.copyBody, response.copyAnswer, () => text)}
    </fieldset>
  );
}
