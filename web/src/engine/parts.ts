import type { Later, Part } from '../../../wasm/split/rest.mjs';
import { DownloadError, download, downloadNow, type FileInfo, type OnBytes } from './download';
import { compileModule, type ModuleInfo } from './module';
import type { KubetabEngine } from './seam';

/** How the functions come that the module has not: see partsOnDemand. */
export interface Parts {
  readonly parts: Part[];
  readonly later: Later;
  /**
   * Adds what comes soon when it has arrived, if it was fetched beside the module.
   *
   * @returns false if it was not, or could not be had
   */
  early(put: Put): Promise<boolean>;
  /** Fetches what comes soon, if there is such a part, and adds it. If it cannot be had, it does nothing. */
  now(put: Put): Promise<void>;
}

type Put = (module: WebAssembly.Module) => void;

/** Says whether what comes soon shall be fetched beside the module, and if so, whom to tell of it and for whom. */
export type Early = () => Promise<{
  readonly onBytes: OnBytes;
  readonly hadBefore: Promise<boolean>;
} | null>;

/** The program whose parts they are. */
interface Owner {
  isOver(): boolean;
  /** A part has arrived. */
  isHere(name: 'soon' | 'rest'): void;
  call(call: (engine: KubetabEngine) => void): void;
}

/** Begins to fetch what comes soon if `early` says so; the other parts wait until the program asks for them. */
export function partsOf({ soon, rest }: ModuleInfo, base: URL, early: Early, owner: Owner): Parts {
  const part = (name: 'soon' | 'rest', file: FileInfo | undefined) => ({
    read: () => {
      if (!file) throw new DownloadError(NO_REST);
      const bytes = downloadNow(file, base);
      owner.isHere(name);
      return bytes;
    },
    get: async (slot: number) => {
      if (!file) throw new DownloadError(NO_REST);
      // go run ./wasm/split -slot names the function.
      if (slot >= 0) console.debug(`kubetab: the function in slot ${slot} is not here yet`);
      const module = await WebAssembly.compileStreaming(await download(file, base));
      if (!owner.isOver()) owner.isHere(name);
      return module;
    },
  });
  const parts = [...(soon ? [part('soon', soon)] : []), part('rest', rest)];
  const begun = soon ? bringEarly(soon, base, early) : Promise.resolve(null);
  return {
    parts,
    early: async (put) => {
      const module = await begun;
      if (!module || owner.isOver()) return false;
      put(module);
      owner.isHere('soon');
      return true;
    },
    now: async (put) => {
      const module = soon ? await parts[0]?.get(-1).catch(() => null) : null;
      if (module) put(module);
    },
    later: laterOf(owner),
  };
}

async function bringEarly(
  file: FileInfo,
  base: URL,
  early: Early,
): Promise<WebAssembly.Module | null> {
  try {
    const wanted = await early();
    return wanted && (await compileModule(file, base, wanted.onBytes, wanted.hadBefore));
  } catch {
    return null; // the program asks for it when it needs it
  }
}

function laterOf(owner: Owner): Later {
  return {
    canWait: () => globalThis.kubetabEngine !== undefined,
    arrived: () => {
      if (!owner.isOver()) owner.call((engine) => engine.arrived());
    },
    missing: (why) => {
      if (!owner.isOver()) owner.call((engine) => engine.missing(why));
    },
    after: (retry, ms) => {
      const again = () => {
        clearTimeout(timer);
        self.removeEventListener('online', again);
        if (!owner.isOver()) retry();
      };
      const timer = setTimeout(again, ms);
      self.addEventListener('online', again);
    },
  };
}

const NO_REST = 'A part of the API server is missing.';
