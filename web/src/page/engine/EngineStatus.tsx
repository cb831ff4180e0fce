import type { EngineState } from '../../protocol';
import { clusterTitle } from '../control/clusters/ClusterMenu';
import { Popover } from '../frame/Popover';
import { bytes, duration } from '../parts/format';
import { words } from '../words';
import {
  api,
  controlled,
  engineSilent,
  engineState,
  engineStats,
  etcdStopped,
  home,
  refreshStats,
  restartEngine,
  withoutServiceWorker,
} from './cluster';

/** How the engine is, in a word, and along the header's edge how far it has come; opened, the details. */
export function EngineStatus() {
  const state = engineState.value;
  return (
    <>
      <Popover
        class="engine"
        button={`pill ${lamp(state)}`}
        title={words.details.title}
        onOpen={() => void refreshStats()}
        face={
          <>
            <span class="lamp" aria-hidden="true" />
            <span class="pill-words">{phaseWord(state)}</span>
            {state?.phase === 'ready' && !etcdStopped.value && (
              <ReadyFigures startMs={state.startMs} />
            )}
          </>
        }
      >
        {() => <Details />}
      </Popover>
      <ProgressBar state={state} />
    </>
  );
}

function phaseWord(state: EngineState | null): string {
  return state?.phase === 'ready' || state?.phase === 'dead'
    ? progressWords(state)
    : words.engine.busy;
}

export function progressWords(state: EngineState): string {
  switch (state.phase) {
    case 'downloading': {
      if (state.loaded >= state.total) return words.engine.compiling;
      // What counts for the visitor is what travels: the compressed module.
      const share = state.loaded / state.total;
      return words.engine.downloading(
        (share * state.transferTotal * 1e-6).toFixed(1),
        `${(state.transferTotal * 1e-6).toFixed(1)} MB`,
      );
    }
    case 'starting': {
      const after: Readonly<Record<string, string>> = words.engine.after;
      return words.engine.starting(after[state.stage] ?? state.stage);
    }
    case 'ready':
      if (engineSilent.value) return words.engine.silent;
      return etcdStopped.value ? words.engine.noEtcd : words.engine.ready;
    case 'dead':
      return words.engine.dead;
    default:
      return state satisfies never;
  }
}

function ReadyFigures({ startMs }: { startMs: number }) {
  const stats = engineStats.value;
  return (
    <span class="figures">
      {stats && <span>{bytes(stats.linearBytes)}</span>}
      <span>{duration(startMs)}</span>
    </span>
  );
}

function lamp(state: EngineState | null): string {
  if (state?.phase === 'ready')
    return engineSilent.value || etcdStopped.value ? 'is-late' : 'is-ready';
  return state?.phase === 'dead' ? 'is-dead' : 'is-busy';
}

/** Along the lower edge of the header. Bytes fill the first part, stages the rest. */
function ProgressBar({ state }: { state: EngineState | null }) {
  if (!state || state.phase === 'ready' || state.phase === 'dead') return null;
  const stages = ['compile', 'storage', 'apis', 'controllers', 'thaw'];
  const done =
    state.phase === 'downloading'
      ? (state.loaded / state.total) * 0.6
      : 0.65 + 0.08 * stages.indexOf(state.stage);
  const percent = Math.round(Math.max(done, 0) * 100);
  return <progress class="progress" max={100} value={percent} aria-label={progressWords(state)} />;
}

function Details() {
  return (
    <>
      <EngineDetails />
      <button
        type="button"
        class="button"
        onClick={() => {
          if (confirm(words.details.restartAsk)) restartEngine('none');
        }}
      >
        {words.details.restart}
      </button>
    </>
  );
}

/** Figures of this start and of now. */
export function EngineDetails() {
  const state = engineState.value;
  const stats = engineStats.value;
  const { details } = words;
  const without = withoutServiceWorker.value;
  const stages: Readonly<Record<string, string>> = details.stages;
  return (
    <>
      <dl>
        {stats && <Row name={details.version} value={stats.version} isName />}
        {state?.phase === 'ready' && (
          <>
            <Row name={details.cluster} value={clusterTitle()} />
            <Row name={details.started} value={duration(state.startMs)} />
            <Row name={details.from} value={details.origins[state.run.from]} faint />
            <Row name={details.objects} value={details.clusters[state.run.cluster]} faint />
            <Row name={details.download} value={duration(state.downloadMs)} faint />
            {state.stages
              .filter(({ ms }) => ms > 0) // the others are steps of the download
              .map(({ name, ms }) => (
                <Row
                  key={name}
                  name={stages[name] ?? name}
                  value={details.at(duration(ms))}
                  faint
                />
              ))}
          </>
        )}
        {stats && (
          <>
            <Row name={details.memory} value={bytes(stats.linearBytes)} />
            <Row name={details.heap} value={bytes(stats.heapBytes)} faint />
            <Row name={details.goroutines} value={String(stats.goroutines)} />
            <Row name={details.requests} value={String(stats.requests)} />
          </>
        )}
        <Row name={details.home} value={details.homes[home.value]} />
        <Row
          name={details.transport}
          value={details.transports[controlled.value ? 'service-worker' : api().transport]}
        />
      </dl>
      <Etcd />
      {without && (
        <p class="faint">
          {without.reason === 'refused'
            ? details.serviceWorkerRefused(without.why)
            : details.noServiceWorker}
        </p>
      )}
    </>
  );
}

/** What the API server stores objects in, and what happens without it. */
function Etcd() {
  const stopped = etcdStopped.value;
  if (stopped === null) return null;
  const { etcd } = words.details;
  return (
    <p class="etcd" role="status">
      <button
        type="button"
        class={`button small ${stopped ? 'primary' : ''}`}
        onClick={() => void import('../control/etcd').then(({ setEtcd }) => setEtcd(!stopped))}
      >
        {stopped ? etcd.start : etcd.stop}
      </button>{' '}
      <span class="faint">{stopped ? etcd.isStopped : etcd.about}</span>
    </p>
  );
}

interface RowProps {
  readonly name: string;
  readonly value: string;
  readonly faint?: boolean;
  readonly isName?: boolean;
}

function Row({ name, value, faint = false, isName = false }: RowProps) {
  return (
    <div class={faint ? 'row faint' : 'row'}>
      <dt>{name}</dt>
      <dd translate={!isName}>{value}</dd>
    </div>
  );
}
