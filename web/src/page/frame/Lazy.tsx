import type { FunctionComponent } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { words } from '../words';
import { Boundary } from './Boundary';

/**
 * A part of the page that is loaded when it is first shown, so that the first paint does not wait for it. Its place is
 * taken from the start; a failed download says so and can be tried again.
 *
 * @param load imports the component; called again after a failure only
 */
export function lazily(load: () => Promise<FunctionComponent>): FunctionComponent {
  let loaded: FunctionComponent | null = null;
  return function Lazy() {
    const [, redraw] = useState(0);
    const [failed, setFailed] = useState('');
    useEffect(() => {
      if (loaded || failed) return;
      load().then(
        (component) => {
          loaded = component;
          redraw(1);
        },
        (error: unknown) => setFailed(String(error)),
      );
    }, [failed]);
    if (loaded) {
      const Loaded = loaded;
      return (
        <Boundary>
          <Loaded />
        </Boundary>
      );
    }
    if (!failed) return <div class="lazy" aria-busy="true" />;
    return (
      <div class="trouble">
        <h2>{words.lazy.what}</h2>
        <p class="why">{failed}</p>
        <button type="button" class="button" onClick={() => setFailed('')}>
          {words.lazy.again}
        </button>
      </div>
    );
  };
}
