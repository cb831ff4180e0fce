// For `npm run dev -w web` only: the page from its sources, with the module as `make wasm` left it. There is no service
// worker then, and the page reaches the engine directly.
import { createReadStream, statSync } from 'node:fs';
import { resolve } from 'node:path';
import { pageConfig } from './build/config.mjs';

const wasm = resolve(import.meta.dirname, '../build/wasm');
const module = { url: 'kubetab.wasm', bytes: statSync(`${wasm}/kubetab.wasm`).size };
const base = pageConfig({ module, wasmExec: `${wasm}/wasm_exec.js`, outDir: 'dist' });

const serveModule = {
  name: 'serve-module',
  configureServer: ({ middlewares }) => {
    middlewares.use((request, response, next) => {
      if (!request.url?.endsWith('/kubetab.wasm')) return next();
      response.setHeader('Content-Type', 'application/wasm');
      createReadStream(`${wasm}/kubetab.wasm`).pipe(response);
    });
  },
};

export default {
  ...base,
  configFile: undefined,
  plugins: [...base.plugins, serveModule],
  server: { host: '127.0.0.1', fs: { allow: ['..'] } },
};
