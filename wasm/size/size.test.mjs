import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { buildTestEngine } from '../host/testengine.mjs';
import { bodySizes, functionTable, packageOf, sections } from './size.mjs';

let module;
before(() => (module = readFileSync(buildTestEngine())));

test('the sections are the module', () => {
  const list = sections(module);
  for (const name of ['type', 'import', 'function', 'export', 'code', 'data']) assert.ok(list.some((s) => s.name === name), name);
  const bytes = list.reduce((sum, s) => sum + s.bytes.length, 8);
  assert.ok(bytes <= module.length && bytes > module.length - 300);
  assert.throws(() => sections(Buffer.from('no module')), /not a WebAssembly module/);
});

test('each function has a name and a size', () => {
  const list = sections(module);
  const section = (name) => list.find((s) => s.name === name).bytes;
  const { names, parts } = functionTable(section('data'));
  const sizes = bodySizes(section('code'));
  assert.equal(names.length, sizes.length);
  assert.ok(sizes.reduce((a, b) => a + b) < section('code').length);
  // A function and its code belong together: depth calls itself and is tiny, ServeHTTP of the mux is not.
  const size = (name) => sizes[names.indexOf(name)];
  assert.ok(size('main.depth') < 400, `main.depth has ${size('main.depth')} bytes`);
  assert.ok(size('net/http.(*conn).serve') === undefined || size('net/http.(*conn).serve') > 2000);
  assert.ok(size('net/http.(*ServeMux).ServeHTTP') > 400);
  for (const [name, bytes] of Object.entries(parts)) assert.ok(bytes > 0, name);
});

test('the table from program counters to functions is left out', () => {
  const { names, parts } = functionTable(sections(module).find((s) => s.name === 'data').bytes);
  // With the stock linker it alone has 320 bytes for each function.
  assert.ok(parts['function data, variables'] < names.length * 320, JSON.stringify(parts));
});

test('symbols belong to packages', () => {
  for (const [symbol, name] of Object.entries({
    'main.main': 'main',
    'runtime.mallocgc': 'runtime',
    'net/http.(*ServeMux).ServeHTTP': 'net/http',
    'k8s.io/api/core/v1.(*Pod).Marshal': 'k8s.io/api/core/v1',
    'gopkg.in/inf%2ev0.(*Dec).Add': 'gopkg.in/inf.v0',
    'type:.eq.net/http.Cookie': 'net/http',
    'slices.SortFunc[go.shape.[]k8s.io/x.T,go.shape.int]': 'slices',
    wasm_pc_f_loop: '(linker)',
  })) {
    assert.equal(packageOf(symbol), name, symbol);
  }
});
