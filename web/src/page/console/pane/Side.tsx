import { useSignal } from '@preact/signals';
import { clock, duration } from '../../parts/format';
import { Tabs } from '../../parts/Tabs';
import { requestInfo, verbClass } from '../../parts/verbs';
import { type Draft, draft, replaceDraft, takesBody } from '../draft';
import { words as exampleWords } from '../examples/example-words';
import { EXAMPLE_GROUPS, type Example } from '../examples/examples';
import { clearHistory, history, type Past } from '../history';
import { words } from '../words';
import { pane, sendNow } from './pane';

type View = 'examples' | 'history';

/** Ready-made requests, and those already sent. */
export function Side() {
  const view = useSignal<View>('examples');
  return (
    <aside class="side" aria-label={words.side.region}>
      <Tabs
        name="side-view"
        label={words.side.examples}
        tabs={[
          { id: 'examples', label: words.side.examples },
          { id: 'history', label: words.side.history },
        ]}
        chosen={view.value}
        onChoose={(id) => {
          view.value = id as View;
        }}
      />
      <div
        id="side-view-panel"
        class="side-body"
        role="tabpanel"
        aria-labelledby={`side-view-${view.value}`}
      >
        {view.value === 'examples' ? <Examples /> : <History />}
      </div>
    </aside>
  );
}

/** Reading is done at once; what writes is put in front of the user first. */
function take(request: Draft): void {
  replaceDraft(request);
  if (takesBody(request.method)) pane.value = 'request';
  else sendNow();
}

function Examples() {
  return (
    <>
      {EXAMPLE_GROUPS.map((group) => (
        <section key={group.id} class="group">
          <h2>{exampleWords.groups[group.id]}</h2>
          <ul>
            {group.examples.map((example) => (
              <li key={example.id}>
                <ExampleButton example={example} />
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  );
}

function ExampleButton({ example }: { example: Example }) {
  const { method, path } = example.request;
  const { verb } = requestInfo(method, path);
  return (
    <button
      type="button"
      class="entry"
      aria-current={draft.value.example === example.id}
      onClick={() => take({ ...example.request, example: example.id })}
    >
      <span class="entry-title">{exampleWords.examples[example.id].title}</span>
      <span class={`entry-verb ${verbClass(verb)}`} translate={false}>
        {verb}
      </span>
    </button>
  );
}

function History() {
  const past = history.value;
  if (past.length === 0) return <p class="empty">{words.side.noHistory}</p>;
  return (
    <>
      <ul class="history">
        {past.map((each) => (
          <li key={`${each.at}`}>
            <PastButton past={each} />
          </li>
        ))}
      </ul>
      <button type="button" class="button quiet" onClick={clearHistory}>
        {words.side.clear}
      </button>
    </>
  );
}

function PastButton({ past }: { past: Past }) {
  const { method, path } = past.request;
  const { verb } = requestInfo(method, path);
  // A long path is cut in the middle: what differs is mostly its end.
  const cut = Math.max(path.lastIndexOf('/'), path.length - 18);
  return (
    <button
      type="button"
      class="entry past"
      translate={false}
      title={path}
      onClick={() => {
        replaceDraft(past.request);
        pane.value = 'request';
      }}
    >
      <span class="unseen">
        {method} {path}
      </span>
      <span class="past-line" aria-hidden="true">
        <span class="past-start">{path.slice(0, cut)}</span>
        <span>{path.slice(cut)}</span>
      </span>
      <span class="faint">
        <span class={verbClass(verb)} aria-hidden="true">
          {method}
        </span>{' '}
        {past.status || words.side.noAnswer} · {duration(past.ms)} · {clock(past.at).slice(0, 8)}
      </span>
    </button>
  );
}
