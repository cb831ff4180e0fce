#!/usr/bin/env node
// Runs the wasm engine under Node behind a plain HTTP server on loopback:
//
//   node wasm/host/serve.mjs [--wasm build/wasm/kubetab.wasm] [--snapshot FILE] [--listen 127.0.0.1:0] [--config '{"verbosity":1}']
//
// prints "listening http://127.0.0.1:PORT" on stdout once /readyz is ok, and nothing else. Stages and Go's
// log go to stderr. Ends with 0 on SIGINT or SIGTERM, with 1 when the engine fails or the address is taken,
// with 2 on a wrong flag.

import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { startEngine } from './engine.mjs';
import { serve } from './server.mjs';

const usage = `usage: node wasm/host/serve.mjs [--wasm FILE] [--snapshot FILE] [--listen HOST:PORT] [--config JSON]

  --wasm FILE         the module, with wasm_exec.js beside it (build/wasm/kubetab.wasm)
  --snapshot FILE     go on from this snapshot instead of starting from nothing
  --listen HOST:PORT  address of the HTTP server; port 0 is any free one (127.0.0.1:0)
  --config JSON       settings of the engine: runtimeConfig, featureGates, emulatedVersion, host,
                      verbosity, gcPercent, anonymous and others, see wasm/settings.go
`;

function parse() {
  const { values } = parseArgs({
    options: {
      wasm: { type: 'string', default: 'build/wasm/kubetab.wasm' },
      snapshot: { type: 'string' },
      listen: { type: 'string', default: '127.0.0.1:0' },
      config: { type: 'string', default: '{}' },
      help: { type: 'boolean', default: false },
    },
  });
  const listen = values.listen.match(/^(?:\[(.+)\]|([^:]*)):(\d+)$/);
  if (!listen) throw new Error(`--listen ${values.listen}: not HOST:PORT`);
  return {
    help: values.help,
    wasm: resolve(values.wasm),
    snapshot: values.snapshot && resolve(values.snapshot),
    address: { host: listen[1] ?? (listen[2] || '127.0.0.1'), port: Number(listen[3]) },
    config: JSON.parse(values.config),
  };
}

async function run({ wasm, snapshot, address, config }) {
  const engine = await startEngine({
    wasm,
    snapshot,
    config,
    onStage: (name, ms) => process.stderr.write(`${name} ${Math.round(ms)} ms\n`),
  });
  const server = await serve(engine, address);
  await engine.stage('ready');
  const ready = await engine.fetch('/readyz');
  if (!ready.ok) throw new Error(`/readyz answers ${ready.status}: ${await ready.text()}`);
  process.stdout.write(`listening ${server.url}\n`);

  const signal = new Promise((done) => ['SIGINT', 'SIGTERM'].forEach((name) => process.once(name, done)));
  const code = await Promise.race([signal.then(() => engine.close()), engine.exited]);
  await server.close();
  if (code !== 0) throw new Error(`the engine ended with code ${code}, and has ${engine.memory.buffer.byteLength >>> 20} MiB of the 4096 that a module may have`);
}

let options;
try {
  options = parse();
} catch (error) {
  process.stderr.write(`host: ${error.message}\n\n${usage}`);
  process.exit(2);
}
if (options.help) {
  process.stdout.write(usage);
  process.exit(0);
}
try {
  await run(options);
  process.exit(0); // timers of the ended program must not hold the process
} catch (error) {
  process.stderr.write(`host: ${error.message}\n`);
  process.exit(1);
}
