import { useSignal } from '@preact/signals';
import { Code } from '../../editor/Code';
import type { Language } from '../../editor/code-types';
import { Tabs } from '../../parts/Tabs';
import { draft, edit, type HeaderRow, header, setHeader, takesBody } from '../draft';
import { words as exampleWords } from '../examples/example-words';
import { EXAMPLES } from '../examples/examples';
import { words } from '../words';

const CONTENT_TYPES: Readonly<Record<string, readonly string[]>> = {
  PATCH: [
    'application/merge-patch+json',
    'application/json-patch+json',
    'application/strategic-merge-patch+json',
    'application/apply-patch+yaml',
  ],
  other: ['application/json', 'application/yaml'],
};

const HEADER_NAMES = [
  'Accept',
  'Content-Type',
  'Authorization',
  'Impersonate-User',
  'Impersonate-Group',
];

type View = 'body' | 'headers';

/** What is sent besides method and path, with the explanation of the example it came from. */
export function RequestPane() {
  const request = draft.value;
  const about = EXAMPLES.find(({ id }) => id === request.example);
  const hasBody = takesBody(request.method);
  const wanted = useSignal<View | null>(null);
  const view = wanted.value ?? (hasBody ? 'body' : 'headers');
  const headerCount = request.headers.filter(({ name }) => name).length;
  return (
    <section class="pane request-pane" aria-label={words.request.region}>
      {about && (
        <div class="about">
          <h2>{exampleWords.examples[about.id].title}</h2>
          <p>{exampleWords.examples[about.id].about}</p>
        </div>
      )}
      <Tabs
        name="request-view"
        label={words.request.region}
        tabs={[
          { id: 'body', label: words.request.body },
          {
            id: 'headers',
            label: `${words.request.headers}${headerCount ? ` ${headerCount}` : ''}`,
          },
        ]}
        chosen={view}
        onChoose={(id) => {
          wanted.value = id as View;
        }}
      >
        {hasBody && <ContentType />}
      </Tabs>
      <div
        id="request-view-panel"
        class="pane-body"
        role="tabpanel"
        aria-labelledby={`request-view-${view}`}
      >
        {view === 'headers' && <Headers />}
        {view === 'body' && hasBody && (
          <Code
            text={request.body}
            language={languageFor(header(request, 'Content-Type'), request.body)}
            readOnly={false}
            label={words.request.bodyLabel}
            onChange={(body) => edit({ body })}
          />
        )}
        {view === 'body' && !hasBody && <p class="empty">{words.request.noBody(request.method)}</p>}
      </div>
    </section>
  );
}

function languageFor(contentType: string, body: string): Language {
  if (contentType.includes('yaml')) return 'yaml';
  if (contentType.includes('json')) return 'json';
  return /^\s*[[{]/.test(body) ? 'json' : 'yaml';
}

function ContentType() {
  const { method } = draft.value;
  const value = header(draft.value, 'Content-Type');
  const usual = CONTENT_TYPES[method] ?? CONTENT_TYPES.other ?? [];
  const choices = value === '' || usual.includes(value) ? usual : [value, ...usual];
  return (
    <select
      class="content-type"
      aria-label={words.request.contentType}
      value={value}
      onChange={(event) => setHeader('Content-Type', event.currentTarget.value)}
    >
      <option value="">{words.request.contentType}</option>
      {choices.map((type) => (
        <option key={type} translate={false}>
          {type}
        </option>
      ))}
    </select>
  );
}

function Headers() {
  const rows: readonly HeaderRow[] = draft.value.headers;
  const change = (at: number, part: Partial<HeaderRow>) =>
    edit({ headers: rows.map((row, i) => (i === at ? { ...row, ...part } : row)) });
  return (
    <div class="headers">
      {rows.map((row, i) => (
        <div class="header-row" key={i}>
          <input
            aria-label={words.request.headerName}
            list="header-names"
            value={row.name}
            spellcheck={false}
            onInput={(event) => change(i, { name: event.currentTarget.value })}
          />
          <input
            aria-label={words.request.headerValue}
            value={row.value}
            spellcheck={false}
            onInput={(event) => change(i, { value: event.currentTarget.value })}
          />
          <button
            type="button"
            class="icon-button"
            aria-label={words.request.removeHeader(row.name)}
            onClick={() => edit({ headers: rows.filter((_, at) => at !== i) })}
          >
            <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
              <path d="M4 4l8 8M12 4l-8 8" stroke="currentColor" stroke-width="1.6" />
            </svg>
          </button>
        </div>
      ))}
      <button
        type="button"
        class="button quiet"
        onClick={() => edit({ headers: [...rows, { name: '', value: '' }] })}
      >
        {words.request.addHeader}
      </button>
      <datalist id="header-names">
        {HEADER_NAMES.map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </div>
  );
}
