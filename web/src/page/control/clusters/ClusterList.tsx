import './clusters.css';
import { useSignal } from '@preact/signals';
import { Fragment } from 'preact';
import { useEffect } from 'preact/hooks';
import { type ClusterKind, OWN, preparedCluster } from '../../../client/cluster-names';
import { now } from '../../cluster/clock';
import { ready } from '../../engine/cluster';
import { switchTo } from '../../engine/here';
import { Icon } from '../../frame/icons';
import { spoken } from '../../frame/spoken';
import { ago } from '../../language/figures';
import { bytes } from '../../parts/format';
import { words as frameWords } from '../../words';
import { words } from '../words';
import { chooseBundle, saveBundle, saveManifests } from './bundles';
import {
  type ClusterInfo,
  clusters,
  create,
  duplicate,
  list,
  remove,
  rename,
  reset,
} from './clusters';
import { CLUSTERS } from './prepared';

const KINDS: readonly ClusterKind[] = ['own', 'lesson', 'prepared'];

/** All clusters of this browser: to go to one, to make one, and what can be done with each. */
export function ClusterList() {
  const text = words.clusters;
  const trouble = useSignal('');
  const busy = useSignal(false);
  const space = useSignal<StorageEstimate | null>(null);
  const measure = async () => {
    space.value = (await navigator.storage?.estimate?.()) ?? null;
  };
  /** One thing at a time: what it is about changes the list. */
  const attempt = (doing: () => Promise<unknown>) => {
    if (busy.value) return;
    trouble.value = '';
    busy.value = true;
    doing()
      .catch((error: unknown) => {
        trouble.value = error instanceof Error ? error.message : String(error);
      })
      .finally(() => {
        busy.value = false;
        void measure().catch(() => undefined);
      });
  };
  const isReady = ready.value;
  // What is kept of this one changes while its engine starts; of others, while another tab is looked at.
  useEffect(() => attempt(list), [isReady]);
  useEffect(() => {
    const look = () => {
      if (!document.hidden) attempt(list);
    };
    document.addEventListener('visibilitychange', look);
    return () => document.removeEventListener('visibilitychange', look);
  }, []);
  const all = clusters.value;
  const groups = KINDS.map((kind) => all.filter((each) => each.kind === kind));
  const isGrouped = groups.filter((group) => group.length > 0).length > 1;
  const unbegun = CLUSTERS.filter((name) => !all.some((c) => c.name === preparedCluster(name)));
  const { usage, quota } = space.value ?? {};
  return (
    <div class="clusters" aria-busy={busy.value}>
      {groups.map((group, i) => {
        const kind = KINDS[i] ?? 'own';
        if (group.length === 0) return null;
        return (
          <Fragment key={kind}>
            {isGrouped && (
              <p class="cluster-kind" aria-hidden="true">
                {text.kinds[kind]}
              </p>
            )}
            <ul aria-label={text.kinds[kind]}>
              {group.map((info) => (
                <ClusterRow key={info.name} info={info} attempt={attempt} busy={busy.value} />
              ))}
            </ul>
          </Fragment>
        );
      })}
      {trouble.value && (
        <p class="setting-note is-bad" role="alert">
          {trouble.value}
        </p>
      )}
      <form
        class="cluster-form"
        onSubmit={(event) => {
          event.preventDefault();
          const title = String(new FormData(event.currentTarget).get('title') ?? '');
          attempt(async () => switchTo(await create(title), { hash: '#cluster' }));
        }}
      >
        <input
          class="field"
          name="title"
          maxLength={80}
          required
          aria-label={text.newName}
          placeholder={text.newName}
        />
        <button type="submit" class="button small" disabled={busy.value}>
          {text.new}
        </button>
        <button
          type="button"
          class="button small"
          disabled={busy.value || !isReady}
          title={words.bundles.openAbout}
          onClick={chooseBundle}
        >
          {words.bundles.open}
        </button>
      </form>
      {unbegun.length > 0 && (
        <p class="clock-buttons">
          <span class="faint">{text.prepared}</span>
          {unbegun.map((name) => (
            <button
              key={name}
              type="button"
              class="button small"
              onClick={() => switchTo(preparedCluster(name), { hash: '#cluster' })}
            >
              {frameWords.cluster.prepared[name]}
            </button>
          ))}
        </p>
      )}
      {usage !== undefined && quota !== undefined && (
        <p class="faint cluster-space">{text.space(bytes(usage), bytes(quota))}</p>
      )}
    </div>
  );
}

/** What is typed next takes the place of what is there. Called when the field comes. */
function takeOver(field: HTMLInputElement | null): void {
  field?.focus();
  field?.select();
}

interface RowProps {
  readonly info: ClusterInfo;
  readonly attempt: (doing: () => Promise<unknown>) => void;
  readonly busy: boolean;
}

function ClusterRow({ info, attempt, busy }: RowProps) {
  const text = words.clusters;
  const { name, title, isHere, lastUsed, inUse } = info;
  const open = useSignal(false);
  /** What a name is being written for. */
  const naming = useSignal<'rename' | 'duplicate' | 'save' | null>(null);
  const facts = [
    ...(isHere ? [text.here] : []),
    ...(inUse > 0 ? [text.inUse(inUse)] : []),
    info.bytes === 0 ? text.notBegun : bytes(info.bytes),
    ...(lastUsed === null || isHere ? [] : [ago(lastUsed, Math.max(now.value, lastUsed))]),
  ];
  const face = (
    <>
      <span class="cluster-title" translate={info.isOurs}>
        {title}
      </span>
      <span class="faint">{facts.join(' · ')}</span>
    </>
  );
  const fold = () => {
    naming.value = null;
    open.value = false;
  };
  return (
    <li>
      <div class={`cluster-row ${isHere ? 'is-here' : ''}`}>
        {isHere ? (
          <div class="cluster-face" aria-current="true">
            {face}
          </div>
        ) : (
          <button type="button" class="cluster-face" onClick={() => switchTo(name)}>
            {face}
          </button>
        )}
        <button
          type="button"
          class="icon-button"
          aria-label={text.more(title)}
          title={text.more(title)}
          aria-expanded={open.value}
          onClick={() => {
            open.value = !open.value;
            naming.value = null;
          }}
        >
          <Icon name="more" />
        </button>
      </div>
      {open.value && naming.value === null && (
        <p class="clock-buttons cluster-actions">
          <button
            type="button"
            class="button small"
            onClick={() => {
              naming.value = 'rename';
            }}
          >
            {text.rename}
          </button>
          <button
            type="button"
            class="button small"
            disabled={busy || info.bytes === 0}
            onClick={() => {
              naming.value = 'duplicate';
            }}
          >
            {text.duplicate}
          </button>
          {isHere && (
            <button
              type="button"
              class="button small"
              disabled={busy || !ready.value}
              onClick={() => {
                naming.value = 'save';
              }}
            >
              {words.bundles.save}
            </button>
          )}
          <button
            type="button"
            class="button small"
            disabled={busy}
            onClick={() => {
              if (confirm(text.resetAsk(title))) attempt(() => reset(name));
            }}
          >
            {text.reset}
          </button>
          {name !== OWN && (
            <button
              type="button"
              class="button small stop"
              disabled={busy}
              onClick={() => {
                if (confirm(text.removeAsk(title))) attempt(() => remove(name));
              }}
            >
              {text.remove}
            </button>
          )}
        </p>
      )}
      {naming.value === 'save' && <SaveForm attempt={attempt} onDone={fold} />}
      {naming.value && naming.value !== 'save' && (
        <NameForm
          info={info}
          isCopy={naming.value === 'duplicate'}
          attempt={attempt}
          onDone={fold}
          onLeave={() => {
            naming.value = null;
          }}
        />
      )}
    </li>
  );
}

interface SaveProps {
  readonly attempt: RowProps['attempt'];
  readonly onDone: () => void;
}

/** Saves the cluster of this tab, as a bundle or as manifests. */
function SaveForm({ attempt, onDone }: SaveProps) {
  return (
    <form
      class="cluster-form cluster-save"
      onSubmit={(event) => {
        event.preventDefault();
        const secrets = new FormData(event.currentTarget).has('secrets');
        const asYaml = (event.submitter as HTMLButtonElement | null)?.value === 'manifests';
        attempt(() => (asYaml ? saveManifests(secrets) : saveBundle(secrets)));
        onDone();
      }}
    >
      <label>
        <input type="checkbox" name="secrets" defaultChecked /> {words.bundles.secrets}
      </label>
      <button type="submit" class="button small primary">
        {words.bundles.save}
      </button>
      <button type="submit" class="button small" value="manifests">
        {words.bundles.manifests}
      </button>
      <p class="faint">{words.bundles.saveAbout}</p>
      <p class="faint">{words.bundles.manifestsAbout}</p>
    </form>
  );
}

interface NameProps extends SaveProps {
  readonly info: ClusterInfo;
  /** Whether the name is that of a copy. */
  readonly isCopy: boolean;
  readonly onLeave: () => void;
}

/** A name for the cluster, or for a copy of it. */
function NameForm({ info: { name, title }, isCopy, attempt, onDone, onLeave }: NameProps) {
  const text = words.clusters;
  const copyName = text.copyOf(title);
  return (
    <form
      class="cluster-form"
      onSubmit={(event) => {
        event.preventDefault();
        const wish = String(new FormData(event.currentTarget).get('title') ?? '').trim();
        if (isCopy) {
          attempt(async () => {
            await duplicate(name, wish || copyName);
            spoken.value = text.copied(wish || copyName);
          });
        } else {
          rename(name, wish);
        }
        onDone();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        event.stopPropagation();
        onLeave();
      }}
    >
      <input
        class="field"
        name="title"
        maxLength={80}
        aria-label={text.name}
        defaultValue={isCopy ? copyName : title}
        ref={takeOver}
      />
      <button type="submit" class="button small primary">
        {isCopy ? text.duplicate : text.rename}
      </button>
    </form>
  );
}
