import type { Gate } from '../../../answers/choices';
import type { Offer } from '../../../answers/wasm';
import type { EngineSettings } from '../../../protocol';
import { words } from '../words';

/** What a gate is while nothing is said of it. */
export function gateOtherwise(gate: Gate, set: EngineSettings['featureGates'] = {}): boolean {
  if (gate.locked || gate.name === 'AllAlpha' || gate.name === 'AllBeta') return gate.default;
  const { AllAlpha, AllBeta } = set;
  return { ALPHA: AllAlpha, BETA: AllBeta }[gate.stage] ?? gate.default;
}

/** What a group version is while nothing is said of it. */
export function groupOtherwise(
  { name, default: byDefault }: { readonly name: string; readonly default: boolean },
  set: EngineSettings['runtimeConfig'] = {},
): boolean {
  const stage = /alpha|beta/.exec(name.slice(name.indexOf('/') + 1))?.[0] ?? 'ga';
  const value = set[`api/${stage}`] ?? set['api/all'];
  return value === undefined ? byDefault : value === 'true';
}

/** Without what is empty or would be so anyway. */
export function without(settings: EngineSettings, from: Offer): EngineSettings {
  const { choices } = from;
  const gates = Object.entries(settings.featureGates ?? {}).filter(([name, on]) => {
    const gate = choices.featureGates.find((each) => each.name === name);
    return !gate || gateOtherwise(gate, settings.featureGates) !== on;
  });
  const runtime = Object.entries(settings.runtimeConfig ?? {}).filter(([name, on]) => {
    const group = choices.groupVersions.find((each) => each.name === name);
    return !group || String(groupOtherwise(group, settings.runtimeConfig)) !== on;
  });
  const controllers = settings.controllers?.filter((name) => name !== '*') ?? [];
  return {
    ...(settings.emulatedVersion &&
      settings.emulatedVersion !== choices.versions[0] && {
        emulatedVersion: settings.emulatedVersion,
      }),
    ...(runtime.length > 0 && { runtimeConfig: Object.fromEntries(runtime) }),
    ...(gates.length > 0 && { featureGates: Object.fromEntries(gates) }),
    ...(settings.nodes !== undefined && settings.nodes !== from.nodes && { nodes: settings.nodes }),
    ...(controllers.length > 0 && { controllers: ['*', ...controllers] }),
    ...(settings.noScheduler && { noScheduler: true }),
  };
}

export function same(a: EngineSettings, b: EngineSettings): boolean {
  return spell(a) === spell(b);
}

/** The settings as the query of an address, in the names of kube-apiserver's flags; empty for the defaults. */
export function spell(settings: EngineSettings): string {
  const query = new URLSearchParams();
  const list = (record: Readonly<Record<string, unknown>> | undefined) =>
    Object.entries(record ?? {})
      .map(([name, value]) => `${name}=${value}`)
      .sort()
      .join(',');
  const set = (name: string, value: string | undefined) => value && query.set(name, value);
  set('emulated-version', settings.emulatedVersion);
  set('feature-gates', list(settings.featureGates));
  set('runtime-config', list(settings.runtimeConfig));
  set('nodes', settings.nodes?.toString());
  set('controllers', [...(settings.controllers ?? [])].sort().join(','));
  set('scheduler', settings.noScheduler ? 'off' : undefined);
  // These need no escape in a query, and the address is there to be read.
  return query.toString().replaceAll('%2F', '/').replaceAll('%2C', ',').replaceAll('%3D', '=');
}

/** What `spell` has written, or somebody by hand. @throws Error that says which part cannot be read */
export function read(query: URLSearchParams): EngineSettings {
  const pairs = (name: string): [string, string][] =>
    (query.get(name) ?? '')
      .split(',')
      .filter(Boolean)
      .map((part) => {
        const end = part.indexOf('=');
        return end < 0 ? [part, 'true'] : [part.slice(0, end), part.slice(end + 1)];
      });
  const gates = pairs('feature-gates').map(([name, value]): [string, boolean] => {
    if (value !== 'true' && value !== 'false') {
      throw new Error(words.address.noBoolean(`feature-gates: ${name}=${value}`));
    }
    return [name, value === 'true'];
  });
  const nodes = query.get('nodes');
  if (nodes !== null && !/^\d{1,4}$/.test(nodes))
    throw new Error(words.address.noNumber(`nodes=${nodes}`));
  const scheduler = query.get('scheduler');
  if (scheduler !== null && scheduler !== 'on' && scheduler !== 'off') {
    throw new Error(words.address.noSwitch(`scheduler=${scheduler}`));
  }
  const runtime = pairs('runtime-config');
  const controllers = (query.get('controllers') ?? '').split(',').filter(Boolean);
  const version = query.get('emulated-version');
  return {
    ...(version && { emulatedVersion: version }),
    ...(runtime.length > 0 && { runtimeConfig: Object.fromEntries(runtime) }),
    ...(gates.length > 0 && { featureGates: Object.fromEntries(gates) }),
    ...(nodes !== null && { nodes: Number(nodes) }),
    ...(controllers.length > 0 && { controllers }),
    ...(scheduler === 'off' && { noScheduler: true }),
  };
}
