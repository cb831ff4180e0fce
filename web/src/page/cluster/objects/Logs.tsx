import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { piecesOf } from '../../../client/pieces';
import { ask, refused } from '../../engine/ask';
import type { Pod } from '../object';
import { words } from '../words';

const KEEP = 2000;
const PACE = 80;

/** What a container prints, as it prints it. */
export function Logs({ pod }: { pod: Pod }) {
  const containers = [...(pod.spec?.containers ?? []), ...(pod.spec?.initContainers ?? [])];
  const container = useSignal(containers[0]?.name ?? '');
  const previous = useSignal(false);
  const lines = useSignal<readonly string[]>([]);
  const state = useSignal<'follow' | 'ended' | 'unavailable'>('follow');
  const problem = useSignal('');
  const place = useRef<HTMLPreElement>(null);
  const { name, namespace, uid } = pod.metadata;
  const restarts = pod.status?.containerStatuses?.find(
    (c) => c.name === container.value,
  )?.restartCount;
  useEffect(() => {
    const stop = new AbortController();
    lines.value = [];
    problem.value = '';
    state.value = 'follow';
    const query = new URLSearchParams({ container: container.value, tailLines: String(KEEP) });
    query.set(previous.value ? 'previous' : 'follow', 'true');
    const path = `/api/v1/namespaces/${namespace}/pods/${name}/log?${query}`;
    read(path, stop.signal, (next) => {
      lines.value = next;
    }).then(
      () => {
        state.value = 'ended';
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        state.value = 'unavailable';
        problem.value = error instanceof Error ? error.message : String(error);
      },
    );
    return () => stop.abort();
  }, [uid, container.value, previous.value, restarts]);
  useEffect(() => {
    // Whoever has scrolled up is reading.
    const element = place.current;
    if (!element) return;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    if (left < 160 || element.scrollTop === 0) element.scrollTop = element.scrollHeight;
  }, [lines.value]);
  const { logs } = words;
  return (
    <div class="logs">
      <div class="toolbar">
        <select
          class="field"
          aria-label={logs.container}
          value={container.value}
          onChange={(event) => {
            container.value = event.currentTarget.value;
          }}
        >
          {containers.map((each) => (
            <option key={each.name} translate={false}>
              {each.name}
            </option>
          ))}
        </select>
        <label class="toggle">
          <input
            type="checkbox"
            checked={previous.value}
            onChange={(event) => {
              previous.value = event.currentTarget.checked;
            }}
          />
          {logs.previous}
        </label>
        <span class="toolbar-end faint">{state.value === 'follow' ? logs.follow : logs.ended}</span>
      </div>
      {state.value === 'unavailable' && (
        <p class="refusal">
          {logs.unavailable} <span translate={false}>{problem.value}</span>
        </p>
      )}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard */}
      <pre ref={place} class="log-lines" tabIndex={0} translate={lines.value.length === 0}>
        {lines.value.length > 0
          ? lines.value.join('\n')
          : state.value !== 'unavailable' && logs.empty}
      </pre>
    </div>
  );
}

/** Colours and cursor movements are for terminals: here only the text is kept. */
const ESCAPES =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: escape sequences begin with one
  /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])|[\u0000-\u0008\u000b-\u001f\u007f]/g;

async function read(
  path: string,
  signal: AbortSignal,
  onLines: (lines: readonly string[]) => void,
): Promise<void> {
  const response = await ask('view', path, { signal });
  if (!response.ok || !response.body) throw refused(response.status, await response.text());
  const decoder = new TextDecoder();
  let lines: string[] = [];
  let rest = '';
  let timer: ReturnType<typeof setTimeout> | null = null;
  const show = () => {
    timer = null;
    if (signal.aborted) return;
    lines = lines.slice(-KEEP);
    onLines(rest ? [...lines, rest] : [...lines]);
  };
  try {
    for await (const piece of piecesOf(response.body)) {
      const parts = (rest + decoder.decode(piece, { stream: true })).split('\n');
      rest = plain(parts.pop() ?? '');
      lines.push(...parts.map(plain));
      timer ??= setTimeout(show, PACE);
    }
  } finally {
    if (timer !== null) clearTimeout(timer);
    show();
  }
}

function plain(text: string): string {
  return text.replace(ESCAPES, '');
}
