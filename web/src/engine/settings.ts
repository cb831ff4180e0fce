import type { EngineSettings } from '../protocol';

/** What an engine has where nothing is said: wasm/settings.go has the same. */
export const DEFAULTS: Required<EngineSettings> = {
  emulatedVersion: '',
  runtimeConfig: {},
  featureGates: {},
  nodes: 2,
  controllers: [],
  noScheduler: false,
};

/** Values that mean the same as the default. A native server names all of its controllers. */
const SAME: { readonly [name in keyof EngineSettings]?: EngineSettings[name] } = {
  controllers: ['*'],
};

/** The settings that differ from the defaults: a bundle has all of them. */
export function differing(settings: EngineSettings): EngineSettings {
  const isOtherwise = ([name, value]: [string, unknown]) =>
    [DEFAULTS, SAME].every(
      (usual) => JSON.stringify(value) !== JSON.stringify(usual[name as keyof EngineSettings]),
    );
  return Object.fromEntries(Object.entries(settings).filter(isOtherwise));
}

/** Whether these are the settings that the snapshot was taken with. */
export function isDefault(settings: EngineSettings): boolean {
  return Object.keys(differing(settings)).length === 0;
}
