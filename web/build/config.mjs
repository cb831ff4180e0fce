// What Vite is told: once for the page and its engine worker, once for the service worker, which must be one classic
// script with a name that never changes.
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const web = resolve(dirname(fileURLToPath(import.meta.url)), '..');

/** Lets the worker import Go's glue, which is copied from GOROOT and not part of this tree. */
const wasmExecPlugin = (path) => ({
  name: 'wasm-exec',
  resolveId: (id) => (id === 'virtual:wasm_exec' ? path : null),
});

/** The terminal: its pane, and the emulator in it, which the pane imports when it is shown. */
const TERMINAL = ['Terminal.tsx', 'screen.ts'].map((file) => join(web, 'src/page/terminal', file));

/**
 * Has the document ask for the terminal's chunks, and their styles, as early as for the page's own code. Whoever comes for the
 * first time types there. After the first round trip the module takes the line, and the chunks of all that is seen stand in a
 * queue beside it.
 */
const terminalEarlyPlugin = {
  name: 'terminal-early',
  transformIndexHtml: {
    order: 'post',
    handler(html, { bundle = {} }) {
      const begin = Object.values(bundle).filter(({ facadeModuleId }) =>
        TERMINAL.includes(facadeModuleId),
      );
      if (begin.length !== TERMINAL.length)
        throw new Error(`${begin.length} chunks of the terminal's.`);
      const chunks = new Set();
      const add = (chunk) => {
        if (chunks.has(chunk)) return;
        chunks.add(chunk);
        for (const name of chunk.imports) add(bundle[name]);
      };
      begin.forEach(add);
      const styles = [...chunks].flatMap(({ viteMetadata }) => [
        ...(viteMetadata?.importedCss ?? []),
      ]);
      const links = [
        ...[...chunks].map(({ fileName }) => ({
          rel: 'modulepreload',
          'data-for': 'terminal',
          href: `./${fileName}`,
        })),
        ...styles.map((name) => ({ rel: 'stylesheet', href: `./${name}` })),
      ];
      return links
        .filter(({ href }) => !html.includes(`"${href}"`))
        .map((link) => ({
          tag: 'link',
          attrs: { crossorigin: true, ...link },
          injectTo: 'head',
        }));
    },
  },
};

/** What the page has for lessons alone, and for the script pane, which came with them. */
const LESSONS = ['lessons', 'script'].map((folder) => join(web, 'src/page', folder, '/'));

/**
 * Measures how much of each script belongs to lessons, into shares: name of the file to a part of 1. By rendered length,
 * before the script is minified.
 */
const lessonShares = (shares) => ({
  name: 'lesson-shares',
  generateBundle(_options, bundle) {
    for (const { type, fileName, modules } of Object.values(bundle)) {
      if (type !== 'chunk') continue;
      let all = 0;
      let lessons = 0;
      for (const [id, { renderedLength }] of Object.entries(modules)) {
        all += renderedLength;
        if (LESSONS.some((folder) => id.startsWith(folder))) lessons += renderedLength;
      }
      if (lessons > 0) shares.set(fileName, lessons / all);
    }
  },
});

export const TARGET = 'es2022';

/**
 * @param {object} options
 * @param {boolean} [options.packed] whether the host has the module as .gz alone
 * @param {Map<string, number>} [options.shares] gets the share that lessons have of each script
 */
export function pageConfig({ module, wasmExec, outDir, packed = false, shares = new Map() }) {
  return {
    configFile: false,
    root: web,
    base: './',
    logLevel: 'warn',
    define: { __MODULE__: JSON.stringify(module), __PACKED__: String(packed) },
    plugins: [wasmExecPlugin(wasmExec), terminalEarlyPlugin, lessonShares(shares)],
    worker: { format: 'es', plugins: () => [wasmExecPlugin(wasmExec)] },
    build: {
      outDir,
      emptyOutDir: true,
      target: TARGET,
      // A font or picture inlined as a data: address would need a wider content security policy.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      chunkSizeWarningLimit: 1000,
    },
  };
}

/** embed.js, which pages of other sites load, and the package @kubetab/client, which they can be built with. */
export function libraryConfig({ entry, format, outDir, fileName, minify }) {
  return {
    configFile: false,
    root: web,
    publicDir: false,
    logLevel: 'warn',
    build: {
      outDir,
      emptyOutDir: false,
      target: TARGET,
      minify,
      lib: {
        entry: join(web, entry),
        formats: [format],
        name: 'kubetab',
        fileName: () => fileName,
      },
    },
  };
}

export function serviceWorkerConfig({ module, packed, outDir, precache, lessons, build }) {
  return {
    configFile: false,
    root: web,
    publicDir: false,
    logLevel: 'warn',
    define: {
      __MODULE__: JSON.stringify(module),
      __PACKED__: String(packed),
      __PRECACHE__: JSON.stringify(precache),
      __LESSONS__: JSON.stringify(lessons),
      __BUILD__: JSON.stringify(build),
    },
    build: {
      outDir,
      emptyOutDir: false,
      target: TARGET,
      // Left readable: whoever looks at it in the developer tools should understand what answers their requests.
      minify: false,
      lib: {
        entry: join(web, 'src/sw.ts'),
        formats: ['iife'],
        name: 'kubetab',
        fileName: () => 'sw.js',
      },
    },
  };
}
