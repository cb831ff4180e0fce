import './picture.css';
import { useComputed, useSignal } from '@preact/signals';
import { Component } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { kindOf } from '../../client/cluster-names';
import { namespace } from '../cluster/namespace';
import { openObject } from '../cluster/navigate';
import { type Node, type Pod, podWords, type Service, type Workload } from '../cluster/object';
import { useObjects } from '../cluster/use-watch';
import { clusterHere, hasPane } from '../engine/here';
import { cut } from '../parts/cut-name';
import { Try } from '../parts/Try';
import { type Box, LANE_HEAD, type Placed, place } from './layout';
import { type Lane, type Owner, type Picture, type PicturePod, pictureOf } from './model';
import { words } from './words';

/** Owners, Pods on their nodes, and Services: what runs where, and why. */
export function PictureView() {
  const picture = usePicture();
  const frame = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(0);
  const hovered = useSignal('');
  useEffect(() => {
    const element = frame.current;
    if (!element) return;
    const measure = () => setWidth(element.clientWidth - 32);
    measure();
    const resized = new ResizeObserver(measure);
    resized.observe(element);
    return () => resized.disconnect();
  }, []);
  const { drawn, state, problem } = picture;
  const placed = useMemo(() => place(drawn, Math.max(width, 280)), [drawn, width]);
  const lit = useComputed(() => litBy(drawn, hovered.value));
  const hover = (uid: string) => {
    hovered.value = uid;
  };
  const ready = state === 'live' && width > 0;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section ref={frame} class="picture" tabIndex={0} aria-label={words.label}>
      {problem && (
        <p class="refusal" translate={false}>
          {problem}
        </p>
      )}
      {!ready && !problem && (
        <p class="empty">{state === 'waiting' ? words.waiting : words.loading}</p>
      )}
      {ready && (
        <>
          <Legend pods={drawn.lanes.flatMap(({ pods }) => pods)} />
          <div class="stage" style={{ height: `${placed.height}px` }}>
            {drawn.lanes.map(({ name }, i) => (
              <div
                key={`lane ${name}`}
                class={`lane ${name ? '' : 'is-homeless'}`}
                style={at(placed.lanes[i] as Box)}
              />
            ))}
            <Lines picture={drawn} placed={placed} lit={lit.value} hovered={hovered.value} />
            {drawn.lanes.map((lane, i) => (
              <LaneHead key={`head ${lane.name}`} lane={lane} box={placed.lanes[i] as Box} />
            ))}
            {drawn.owners.map((owner) => (
              <OwnerBox
                key={owner.uid}
                owner={owner}
                box={placed.owners.get(owner.uid) as Box}
                lit={lit.value.has(owner.uid)}
                onHover={hover}
              />
            ))}
            {drawn.lanes.flatMap(({ pods }) =>
              pods.map((pod) => (
                <PodBox
                  key={pod.uid}
                  pod={pod}
                  box={placed.pods.get(pod.uid) as Box}
                  from={placed.owners.get(pod.owner)}
                  lit={lit.value.has(pod.uid)}
                  dimmed={lit.value.size > 0 && !lit.value.has(pod.uid)}
                  onHover={hover}
                />
              )),
            )}
            {drawn.services.map((service) => (
              <button
                key={service.uid}
                type="button"
                class={`box service ${lit.value.has(service.uid) ? 'is-lit' : ''}`}
                translate={false}
                style={at(placed.services.get(service.uid) as Box)}
                title={`Service ${service.namespace}/${service.name}\n${words.pods(service.pods.length)}`}
                onPointerEnter={() => hover(service.uid)}
                onPointerLeave={() => hover('')}
                onFocus={() => hover(service.uid)}
                onBlur={() => hover('')}
                onClick={() => openObject('', 'services', service.namespace, service.name)}
              >
                <span class="box-name">
                  {cut(service.name, nameRoom(placed.services.get(service.uid)))}
                </span>
                <span class="box-detail">
                  <span class="box-kind">{service.type || 'Service'}</span>{' '}
                  <b>{service.pods.length}</b>
                </span>
              </button>
            ))}
          </div>
          {drawn.podCount === 0 && (
            <div class="empty">
              <p>{words.empty(namespace.value)}</p>
              {kindOf(clusterHere) !== 'lesson' && ( // a lesson says itself what to do
                <>
                  {hasPane('files') && <p>{words.tryThis}</p>}
                  <Try command={words.tryCommand} />
                </>
              )}
            </div>
          )}
          {drawn.lanes.length === 0 && <p class="empty">{words.noNodes}</p>}
          {drawn.lanes.some(({ name }) => name) && <p class="picture-note">{words.simulated}</p>}
        </>
      )}
    </section>
  );
}

/** In one namespace or all: nodes belong to none. */
function usePicture() {
  const inside = namespace.value ? `/namespaces/${namespace.value}` : '';
  const nodes = useObjects<Node>('/api/v1/nodes');
  const pods = useObjects<Pod>(`/api/v1${inside}/pods`);
  const services = useObjects<Service>(`/api/v1${inside}/services`);
  const apps = [
    useObjects<Workload>(`/apis/apps/v1${inside}/deployments`),
    useObjects<Workload>(`/apis/apps/v1${inside}/replicasets`),
    useObjects<Workload>(`/apis/apps/v1${inside}/statefulsets`),
    useObjects<Workload>(`/apis/apps/v1${inside}/daemonsets`),
    useObjects<Workload>(`/apis/batch/v1${inside}/jobs`),
    useObjects<Workload>(`/apis/batch/v1${inside}/cronjobs`),
  ];
  const all = [nodes, pods, services, ...apps];
  const version = all.reduce((sum, snapshot) => sum + snapshot.version, 0);
  const drawn = useMemo(
    () =>
      pictureOf({
        nodes: [...nodes.items.values()],
        pods: [...pods.items.values()],
        services: [...services.items.values()],
        workloads: apps.flatMap(({ items }) => [...items.values()]),
      }),
    [version, inside],
  );
  const refusal = all.find(({ state }) => state === 'refused');
  // Who may not see nodes still sees the Pods.
  const settled = all.every(({ state }) => state === 'live' || state === 'refused');
  const waiting = all.some(({ state }) => state === 'waiting');
  const state = settled ? ('live' as const) : waiting ? ('waiting' as const) : ('loading' as const);
  return { drawn, state, problem: refusal?.problem ?? '' };
}

/** What belongs together with the thing under the pointer. */
function litBy(picture: Picture, uid: string): ReadonlySet<string> {
  if (!uid) return new Set();
  const owner = picture.owners.find((each) => each.uid === uid);
  if (owner) return new Set([uid, ...owner.pods]);
  const service = picture.services.find((each) => each.uid === uid);
  if (service) return new Set([uid, ...service.pods]);
  const owners = picture.owners.filter(({ pods }) => pods.includes(uid)).map((each) => each.uid);
  const services = picture.services.filter(({ pods }) => pods.includes(uid)).map((s) => s.uid);
  return new Set([uid, ...owners, ...services]);
}

interface LinesProps {
  readonly picture: Picture;
  readonly placed: Placed;
  readonly lit: ReadonlySet<string>;
  readonly hovered: string;
}

/** With hundreds of Pods only the lines that are asked for are drawn. */
const FEW = 40;

function Lines({ picture, placed, lit, hovered }: LinesProps) {
  const all = picture.podCount <= FEW;
  const ready = new Set(
    picture.lanes.flatMap(({ pods }) => pods.filter((pod) => pod.ready).map(({ uid }) => uid)),
  );
  const lines: { key: string; d: string; kind: string; on: boolean }[] = [];
  const join = (from: string, a: Box | undefined, pods: readonly string[], kind: string) => {
    if (!a) return;
    for (const uid of pods) {
      const b = placed.pods.get(uid);
      const on = hovered !== '' && lit.has(from) && lit.has(uid);
      if (!b || (!all && !on)) continue;
      lines.push({ key: `${from} ${uid}`, d: curve(a, b), kind, on });
    }
  };
  for (const owner of picture.owners) {
    join(owner.uid, placed.owners.get(owner.uid), owner.pods, 'line-owner');
  }
  for (const service of picture.services) {
    const served = service.pods.filter((uid) => ready.has(uid));
    join(service.uid, placed.services.get(service.uid), served, 'line-service');
  }
  return (
    <svg class="lines" aria-hidden="true">
      {lines.map(({ key, d, kind, on }) => (
        <path key={key} class={`${kind} ${on ? 'is-lit' : ''}`} d={d} />
      ))}
    </svg>
  );
}

/** From the side of the one that faces the other, with a horizontal start and end. */
function curve(a: Box, b: Box): string {
  const right = a.x < b.x;
  const x1 = right ? a.x + a.width : a.x;
  const y1 = a.y + a.height / 2;
  const x2 = right ? b.x : b.x + b.width;
  const y2 = b.y + b.height / 2;
  const bend = (x2 - x1) / 2;
  return `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`;
}

/** Above the lines, which end at its words: in a narrow picture some pass behind it. */
function LaneHead({ lane, box }: { lane: Lane; box: Box }) {
  const name = lane.name || words.unscheduled;
  return (
    <div
      class={`lane-head ${lane.name ? '' : 'is-homeless'}`}
      style={at({ ...box, height: LANE_HEAD })}
    >
      {lane.name ? (
        <button
          type="button"
          class="lane-name"
          translate={false}
          onClick={() => openObject('', 'nodes', '', lane.name)}
        >
          {name}
        </button>
      ) : (
        <span class="lane-name">{name}</span>
      )}
      {lane.name && !lane.ready && <span class="lane-state">{words.notReady}</span>}
      {lane.cordoned && <span class="lane-state">{words.cordoned}</span>}
      <span class="lane-count">{words.pods(lane.pods.length)}</span>
    </div>
  );
}

interface OwnerBoxProps {
  readonly owner: Owner;
  readonly box: Box;
  readonly lit: boolean;
  readonly onHover: (uid: string) => void;
}

const RESOURCES: Readonly<Record<string, readonly [group: string, resource: string]>> = {
  Deployment: ['apps', 'deployments'],
  ReplicaSet: ['apps', 'replicasets'],
  StatefulSet: ['apps', 'statefulsets'],
  DaemonSet: ['apps', 'daemonsets'],
  Job: ['batch', 'jobs'],
  CronJob: ['batch', 'cronjobs'],
};

function OwnerBox({ owner, box, lit, onHover }: OwnerBoxProps) {
  const count =
    owner.wanted === null ? `${owner.pods.length}` : `${owner.pods.length}/${owner.wanted}`;
  const long =
    owner.wanted === null
      ? words.pods(owner.pods.length)
      : words.of(owner.pods.length, owner.wanted);
  const through = owner.through.map(({ name, pods }) => `${name}: ${words.pods(pods)}`);
  return (
    <button
      type="button"
      class={`box owner ${lit ? 'is-lit' : ''}`}
      translate={false}
      style={at(box)}
      title={[`${owner.kind} ${owner.namespace}/${owner.name}`, long, ...through].join('\n')}
      onPointerEnter={() => onHover(owner.uid)}
      onPointerLeave={() => onHover('')}
      onFocus={() => onHover(owner.uid)}
      onBlur={() => onHover('')}
      onClick={() => {
        const [group, resource] = RESOURCES[owner.kind] ?? ['', ''];
        openObject(group, resource, owner.namespace, owner.name);
      }}
    >
      <span class="box-name">{cut(owner.name, nameRoom(box))}</span>
      <span class="box-detail">
        <span class="box-kind">{owner.kind}</span> <b>{count}</b>
      </span>
    </button>
  );
}

interface PodBoxProps {
  readonly pod: PicturePod;
  readonly box: Box;
  /** Where it comes from when it is new. */
  readonly from: Box | undefined;
  readonly lit: boolean;
  readonly dimmed: boolean;
  readonly onHover: (uid: string) => void;
}

/** Not drawn again while nothing of it has changed: there may be a thousand. */
class PodBox extends Component<PodBoxProps> {
  override shouldComponentUpdate(next: PodBoxProps): boolean {
    const now = this.props;
    return (
      next.pod !== now.pod ||
      next.lit !== now.lit ||
      next.dimmed !== now.dimmed ||
      next.box.x !== now.box.x ||
      next.box.y !== now.box.y ||
      next.box.width !== now.box.width
    );
  }

  override render({ pod, box, lit, dimmed, onHover }: PodBoxProps) {
    const states = [`pod-${pod.phase.toLowerCase()}`, lit && 'is-lit', dimmed && 'is-dimmed'];
    return (
      <button
        ref={this.#arrive}
        type="button"
        class={`pod ${states.filter(Boolean).join(' ')} ${pod.ready ? 'is-ready' : ''}`}
        style={at(box)}
        title={podWords(pod.pod)}
        onPointerEnter={() => onHover(pod.uid)}
        onPointerLeave={() => onHover('')}
        onFocus={() => onHover(pod.uid)}
        onBlur={() => onHover('')}
        onClick={() => openObject('', 'pods', pod.namespace, pod.name)}
      >
        <span class="unseen">{words.pod(pod.name, words.phases[pod.phase])}</span>
        {box.width >= 20 && (
          <span class="dots">
            {pod.containers.slice(0, 4).map((isReady, i) => (
              <span key={i} class={`dot ${isReady ? 'is-ready' : ''}`} />
            ))}
          </span>
        )}
        {box.width > 60 && (
          <span class="pod-name" translate={false} aria-hidden="true">
            {cut(pod.name, Math.floor((box.width - 30) / 7))}
          </span>
        )}
      </button>
    );
  }

  /** A new Pod slides from its owner to its node. */
  #arrive = (element: HTMLButtonElement | null): void => {
    const { from, box } = this.props;
    if (!element || !from || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const start = `translate(${from.x + from.width - box.width}px, ${from.y}px)`;
    element.animate([{ transform: start, opacity: 0.4 }, {}], {
      duration: 200,
      easing: 'ease-out',
    });
  };
}

function Legend({ pods }: { pods: readonly PicturePod[] }) {
  const counts = new Map<PicturePod['phase'], number>();
  for (const { phase } of pods) counts.set(phase, (counts.get(phase) ?? 0) + 1);
  return (
    <ul class="legend" aria-label={words.legend}>
      {(Object.keys(words.phases) as PicturePod['phase'][])
        .filter((phase) => counts.has(phase) || phase === 'Running' || phase === 'Pending')
        .map((phase) => (
          <li key={phase}>
            <span class={`pod sample pod-${phase.toLowerCase()}`} aria-hidden="true" />
            {words.phases[phase]} <b>{counts.get(phase) ?? 0}</b>
          </li>
        ))}
    </ul>
  );
}

function at({ x, y, width, height }: Box) {
  return { transform: `translate(${x}px, ${y}px)`, width: `${width}px`, height: `${height}px` };
}

/** Characters of a name for which a box has room; about, because the face is the system's. */
function nameRoom(box: Box | undefined): number {
  return Math.floor(((box?.width ?? 0) - 20) / 8.6);
}
