import type { EngineStats } from '../answers/boundary';
import type { ApiClient } from '../client';
import type { EngineSettings, EngineState, Restart } from '../protocol';
import {
  directApi,
  engineState,
  engineStats,
  refreshStats,
  restartEngine,
  scope,
} from './engine/cluster';

/** `kubetab` in the browser's own console. `fetch('api/v1/namespaces')` needs none of it. */
export interface Developer {
  /** The address of the API server, with a slash at its end: that of the page, which may lie in a folder. */
  readonly api: string;
  /** The engine without the service worker in between; null before there is a connection. */
  readonly direct: ApiClient | null;
  readonly state: EngineState | null;
  /** Asks the engine now; null while it is not ready. */
  stats(): Promise<EngineStats | null>;
  /**
   * Ends the engine and starts another, with settings of its own if there are any: with an empty cluster, or with the
   * objects that there are.
   */
  restart(settings?: EngineSettings, objects?: Restart['objects']): void;
}

declare global {
  interface Window {
    readonly kubetab: Developer;
  }
}

export function offerDeveloper(): void {
  const developer: Developer = {
    api: scope.href,
    get direct() {
      return directApi();
    },
    get state() {
      return engineState.value;
    },
    async stats() {
      await refreshStats();
      return engineStats.value;
    },
    restart: (settings, objects = 'none') => restartEngine(objects, settings),
  };
  Object.defineProperty(window, 'kubetab', { value: developer });
}
