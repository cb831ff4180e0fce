// A module that was cut is one program, whatever calls whatever.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { after, before, test } from 'node:test';
import { startEngine } from '../host/engine.mjs';
import { buildTestEngine, root, until } from '../host/testengine.mjs';
import { FIRST_PC, named, parked } from '../snapshot/parked.mjs';
import { takeSnapshot } from '../snapshot/take.mjs';

let folder;
let whole;
let split; // the built command
const at = (...names) => join(folder, ...names);

/** What the profile is of: everything but /recursion and what it calls. Walks all stacks. */
async function use(engine) {
  globalThis.kubetabEngine.collect();
  assert.equal(await (await engine.fetch('/echo', { method: 'POST', body: 'hello' })).text(), 'hello');
  assert.equal((await engine.fetch('/readyz')).status, 200);
  await (await engine.fetch('/state')).json();
}

const recursion = async (engine) => (await engine.fetch('/recursion')).text();

async function start(name, options = {}) {
  let log = '';
  const engine = await startEngine({ wasm: at(name, 'kubetab.wasm'), onLog: (text) => (log += text), ...options });
  await engine.stage('ready');
  return { engine, log: () => log };
}

/** A folder for a module, with Go's glue. */
function place(name) {
  mkdirSync(at(name), { recursive: true });
  copyFileSync(join(dirname(whole), 'wasm_exec.js'), at(name, 'wasm_exec.js'));
}

function cut(name, ...flags) {
  place(name);
  execFileSync(split, ['-profile', at('hot.txt'), ...flags, '-o', at(name, 'kubetab.wasm'), '-rest', at(name, 'kubetab.rest.wasm'), whole]);
}

before(async () => {
  whole = buildTestEngine();
  folder = mkdtempSync(join(tmpdir(), 'kubetab-split-'));
  split = at('split');
  execFileSync('go', ['build', '-o', split, './wasm/split'], { cwd: root });

  place('marked');
  execFileSync(split, ['-mark', '-o', at('marked', 'kubetab.wasm'), whole]);
  // In processes of their own, which write what has been called when they end.
  const [wasm, snapshot] = [at('marked', 'kubetab.wasm'), at('marked', 'kubetab.snapshot')];
  execFileSync(process.execPath, [join(root, 'wasm/snapshot/main.mjs'), '--wasm', wasm, '--out', snapshot], { stdio: 'ignore' });
  const visit = (name, act) => {
    const script = `
      import assert from 'node:assert/strict';
      import { startEngine } from '${join(root, 'wasm/host/engine.mjs')}';
      const engine = await startEngine({ wasm: '${wasm}', snapshot: '${snapshot}' });
      ${act}
      process.exit(0);`;
    execFileSync(process.execPath, ['--input-type=module', '--eval', script]);
    execFileSync(split, ['-called', at('marked', 'called'), '-o', at(name), whole]);
  };
  visit('first.txt', "await (await engine.fetch('/readyz')).text();");
  visit('hot.txt', `${use}\nawait use(engine);`);
  cut('cut');
});
after(() => rmSync(folder, { recursive: true }));

test('the profile has what was called, and nothing else', () => {
  const profile = readFileSync(at('hot.txt'), 'utf8');
  assert.match(profile, /^net\/http:\n(\t.*\n)*\t\(\*ServeMux\)\.ServeHTTP\n/m);
  assert.doesNotMatch(profile, /\tdepth\n/);
  assert.ok(statSync(at('cut', 'kubetab.wasm')).size < statSync(whole).size);
});

test('a start needs the rest, once, and then everything is there', async () => {
  const { engine, log } = await start('cut');
  await use(engine);
  const answer = await recursion(engine);
  assert.equal(log().match(/the rest of the module is needed/g)?.length, 1);
  const { engine: other } = await startWhole();
  assert.equal(answer, await recursion(other));
  await Promise.all([engine.close(), other.close()]);
});

async function startWhole() {
  place('whole');
  copyFileSync(whole, at('whole', 'kubetab.wasm'));
  return start('whole');
}

test('one that goes on from a snapshot needs the rest when it calls what is there', async () => {
  const snapshot = at('cut', 'kubetab.snapshot');
  writeFileSync(snapshot, await takeSnapshot({ wasm: at('cut', 'kubetab.wasm') }));
  const { engine, log } = await start('cut', { snapshot });
  await use(engine);
  assert.equal(log(), '');
  await recursion(engine);
  assert.match(log(), /^kubetab: the rest of the module is needed for slot (\d+), which go run .* -slot \1 \S+ names\n$/);
  await use(engine);
  await engine.close();
});

test('what is known of functions goes with them, but of those on a stack, and leaves its memory', async () => {
  const onMemory = (memory) => writeFileSync(at('parked.json'), JSON.stringify({ slots: parked(memory), names: named(memory) }));
  const { length: before } = await takeSnapshot({ wasm: at('cut', 'kubetab.wasm'), onMemory });
  cut('lean', '-parked', at('parked.json'));
  const sizeOf = (name) => statSync(at(name, 'kubetab.wasm')).size;
  assert.ok(sizeOf('lean') < sizeOf('cut') - 100_000);

  const snapshot = at('lean', 'kubetab.snapshot');
  let size;
  const taken = await takeSnapshot({ wasm: at('lean', 'kubetab.wasm'), onMemory: (memory) => (size = memory.length) });
  assert.ok(taken.length < before + 10_000); // what the rest has brought is not in it
  assert.ok(size < 1 << 28);
  writeFileSync(snapshot, taken);
  const { engine, log } = await start('lean', { snapshot });
  await use(engine);
  assert.equal(log(), '');
  const { linearBytes } = engine.stats();
  assert.ok(linearBytes <= size + 2 * 65536, `${size} bytes have become ${linearBytes}`); // far from what the rest would bring
  await recursion(engine); // and this has them grow and move
  assert.match(log(), /the rest of the module is needed/);
  await use(engine);
  await engine.close();

  // A start that has no snapshot finds everything, too: traces name functions that only the rest knows.
  const booted = await start('lean');
  await booted.engine.fetch('/crash').catch(() => {});
  await booted.engine.exited;
  assert.match(booted.log(), /nobody recovers this[^]*main\.handler\.func\d+\.\d+/);
});

test('a name that the program keeps stays with the engine', async () => {
  const { names } = JSON.parse(readFileSync(at('parked.json'), 'utf8'));
  assert.ok(names.includes('bytes.FieldsFunc'));
  // No function is said to be on a stack: what is there could be the caller, left by runtime.Caller.
  const snapshotWith = (kept) => {
    writeFileSync(at('names-only.json'), JSON.stringify({ slots: [], names: kept }));
    cut('names-only', '-parked', at('names-only.json'));
    return takeSnapshot({ wasm: at('names-only', 'kubetab.wasm') });
  };
  await assert.rejects(snapshotWith(names.filter((name) => name !== 'bytes.FieldsFunc')), /the name bytes\.FieldsFunc, at \d+, is the rest of the module's/);
  await snapshotWith(names);

  // make wasm cuts again with what is missing.
  writeFileSync(at('kept.json'), JSON.stringify({ slots: [], names: names.filter((name) => name !== 'bytes.FieldsFunc') }));
  cut('again', '-parked', at('kept.json'));
  const freeze = () => {
    const wasm = at('again', 'kubetab.wasm');
    const flags = ['--wasm', wasm, '--out', at('again', 'kubetab.snapshot'), '--kept', at('kept.json')];
    return spawnSync(process.execPath, [join(root, 'wasm/snapshot/main.mjs'), ...flags], { encoding: 'utf8' });
  };
  const refused = freeze();
  assert.equal(refused.status, 3, refused.stderr);
  const kept = JSON.parse(readFileSync(at('kept.json'), 'utf8'));
  assert.deepEqual({ slots: kept.slots, names: kept.names }, { slots: [], names });
  assert.deepEqual(new Set(kept.refused.map(({ name }) => name)), new Set(['bytes.FieldsFunc']));
  assert.equal(freeze().status, 1); // it has not been cut again: nothing is to be added
  // What points to another name after the module was cut again is a number, and no string.
  const numbers = kept.refused.map((place) => ({ ...place, name: 'another' }));
  await takeSnapshot({ wasm: at('again', 'kubetab.wasm'), refused: numbers });
  cut('again', '-parked', at('kept.json'));
  assert.equal(freeze().status, 0);

  const { engine, log } = await start('lean', { snapshot: at('lean', 'kubetab.snapshot') });
  assert.equal(await (await engine.fetch('/caller')).text(), 'bytes.FieldsFunc');
  assert.equal(log(), '');
  await engine.close();
});

test('the numbers that a profiler tells have names', async () => {
  cut('named', '-names', at('names.json'));
  const names = JSON.parse(readFileSync(at('names.json'), 'utf8'));
  const tables = []; // a table's functions, before and after the rest has come
  const numbers = (table) => Array.from({ length: table.length }, (_, slot) => table.get(slot) && Number(table.get(slot).name));
  let table;
  const onInstance = ({ exports }) => {
    table = Object.values(exports).find((e) => e instanceof WebAssembly.Table);
    tables.push(numbers(table));
    assert.equal(names.engine[exports.run.name], 'wasm_export_run');
  };
  const { engine, log } = await start('named', { onInstance });
  assert.match(log(), /the rest of the module is needed/);
  tables.push(numbers(table));
  await engine.close();

  const [before, after] = tables;
  const changed = after.map((_, slot) => slot).filter((slot) => before[slot] !== after[slot]);
  const same = after.map((_, slot) => slot).filter((slot) => before[slot] !== null && before[slot] === after[slot]);
  const nameOf = (slot) => execFileSync(split, ['-slot', `${slot}`, whole], { encoding: 'utf8' }).trim();
  for (const [part, slots] of [['engine', same], ['rest', changed]]) {
    for (const slot of [slots[0], slots[slots.length >> 1], slots.at(-1)]) assert.equal(names[part][after[slot]], nameOf(slot));
  }
});

test('no program counter looks like an address of what the rest brings before a snapshot', async () => {
  const { engine } = await start('lean', { config: { toBeFrozen: true } });
  const { size, gone } = engine.leaveRest();
  assert.ok(gone.to > gone.from && size < gone.from, JSON.stringify({ size, gone }));
  assert.ok(gone.to <= FIRST_PC, `${gone.to}`);
});

test('a program that will be frozen does not come to what the rest brings', async () => {
  const { engine } = await start('lean', { config: { toBeFrozen: true } });
  await assert.rejects(engine.fetch('/far'), /MiB of memory are too much for a program that will be frozen: it has 224/);
});

test('a goroutine that calls what has not come waits for it, and nothing else does', async () => {
  let bring;
  let asked = 0;
  const later = () => {
    asked++;
    return new Promise((resolve) => (bring = resolve));
  };
  const names = ['stack', 'heap', 'goroutine', 'lock', 'lock', 'stack'];
  const { engine: other } = await startWhole();
  const want = await Promise.all(names.map(async (name) => (await other.fetch(`/seldom/${name}`)).text()));
  await other.close();

  const { engine } = await start('lean', { snapshot: at('lean', 'kubetab.snapshot'), later });
  const answers = names.map(async (name) => (await engine.fetch(`/seldom/${name}`)).text());
  const settled = await Promise.race([Promise.any(answers).then(() => 'answered', () => 'failed'), use(engine)]);
  assert.equal(settled, undefined);
  for (let round = 0; round < 5; round++) {
    globalThis.kubetabEngine.collect(); // must not take what only the goroutines that wait know of
    await use(engine);
  }
  assert.equal(asked, 1);
  bring(await compiledRest('lean'));
  assert.deepEqual(await Promise.all(answers), want);
  await use(engine);
  await engine.close();
});

const compiledRest = async (name) => WebAssembly.compile(readFileSync(at(name, 'kubetab.rest.wasm')));

/** Cuts into three: a request without a body is what is called first. */
function cutInThree() {
  cut('three', '-parked', at('parked.json'), '-first', at('first.txt'), '-soon', at('three', 'kubetab.soon.wasm'));
}

const compiled = async (part) => WebAssembly.compile(readFileSync(at('three', `kubetab.${part}.wasm`)));

test('what comes soon is part of the program from its start to its end, also in a snapshot', async () => {
  cutInThree();
  assert.ok(statSync(at('three', 'kubetab.wasm')).size < statSync(at('lean', 'kubetab.wasm')).size);
  const snapshot = await takeSnapshot({ wasm: at('three', 'kubetab.wasm') });
  // What the engine does not know of functions is not in the snapshot either, whoever brings it.
  const lean = statSync(at('lean', 'kubetab.snapshot')).size;
  assert.ok(Math.abs(snapshot.length - lean) < 1000, `${snapshot.length} and ${lean} bytes`);
  writeFileSync(at('three', 'kubetab.snapshot'), snapshot);
  const { engine, log } = await start('three', { snapshot: at('three', 'kubetab.snapshot') });
  await use(engine);
  assert.equal(log(), '');
  const { engine: other } = await startWhole();
  assert.equal(await recursion(engine), await recursion(other));
  assert.match(log(), /the rest of the module is needed/);
  await use(engine);
  await Promise.all([engine.close(), other.close()]);
});

/** Memory as an instance of a module begins with it. */
async function beginning(module) {
  const imports = {};
  for (const { module: from, name } of WebAssembly.Module.imports(module)) (imports[from] ??= {})[name] = () => 0;
  const { exports } = await WebAssembly.instantiate(module, imports);
  return Buffer.from(exports.mem.buffer);
}

/** Where in memory the linker says that types are, as [address, size]. */
function typesIn(module) {
  const bytes = new Uint8Array(WebAssembly.Module.customSections(module, 'kubetab.types')[0]);
  let at = 0;
  const number = (isSigned) => {
    for (let value = 0, shift = 0; ; ) {
      const byte = bytes[at++];
      value |= (byte & 127) << shift;
      shift += 7;
      if (byte < 128) return isSigned && byte & 64 && shift < 32 ? value | (-1 << shift) : value;
    }
  };
  let end = 0;
  return Array.from({ length: number(false) }, () => {
    const [address, size] = [end + number(true), number(false)];
    end = address + size;
    return [address, size];
  });
}

test('what is known of types is put together as the linker has made it, and nothing else is left', async () => {
  const [linked, engine] = [await WebAssembly.compile(readFileSync(whole)), await WebAssembly.compile(readFileSync(at('three', 'kubetab.wasm')))];
  const [want, got] = [await beginning(linked), await beginning(engine)];
  const types = typesIn(linked);
  assert.ok(types.length > 1000);
  for (const [address, size] of types) assert.deepEqual(got.subarray(address, address + size), want.subarray(address, address + size));
  // They come as columns, where the heap will be: it counts on zeros.
  const variables = got.indexOf('\0kubetab\0.tables', 'latin1') + 16;
  const [free, end] = [0, 8].map((offset) => Number(got.readBigUInt64LE(variables + offset)));
  assert.ok(end - free > 100_000, `${free} to ${end}`);
  assert.ok(got.subarray(free, end).every((byte) => byte === 0));
});

test('names and lines of functions come with what comes soon: who logs does without, who asks waits', { timeout: 240_000 }, async () => {
  // But for the names that the runtime compares, with each go statement.
  const memory = await beginning(await WebAssembly.compile(readFileSync(at('three', 'kubetab.wasm'))));
  const has = (name) => memory.includes(`\0${name}\0`, 0, 'latin1');
  assert.deepEqual(['runtime.fatalpanic', 'main.file'].map(has), [true, false]);

  let bring;
  const later = (slot, part) => new Promise((resolve) => (bring = async () => resolve(await compiled(part))));
  const { engine, log } = await start('three', { snapshot: at('three', 'kubetab.snapshot'), later });
  const text = async (path) => (await engine.fetch(path)).text();
  assert.equal(await text('/file'), '?');
  const named = text('/name');
  assert.equal(await Promise.race([named, text('/readyz').then(() => 'it waits')]), 'it waits');
  await bring();
  assert.equal(await named, 'main.file');
  assert.match(await text('/file'), /\/main_js\.go$/);
  await engine.fetch('/crash').catch(() => {});
  await engine.exited;
  assert.match(log(), /nobody recovers this[^]*main\.handler\.func\d+\.\d+[^]*main_js\.go:\d+/);
});

test('a stack trace that cannot have names yet fails alone', { timeout: 240_000 }, async () => {
  let isOnline = false;
  const retries = [];
  const later = async (slot, part) => {
    if (!isOnline) throw new Error('there is no network.');
    return compiled(part);
  };
  const { engine } = await start('three', { snapshot: at('three', 'kubetab.snapshot'), later, after: (retry) => retries.push(retry) });
  await assert.rejects(engine.fetch('/stack'), /could not be downloaded: there is no network\./);
  assert.equal((await engine.fetch('/readyz')).status, 200);
  isOnline = true;
  retries.at(-1)();
  assert.match(await (await engine.fetch('/stack')).text(), /^goroutine \d+ \[running\]:\nmain\.stack\([^]*main_js\.go:\d+/);
  await engine.close();
});

test('what comes soon comes by itself, and the rest when it is called', async () => {
  const asked = [];
  const later = async (slot, part) => {
    asked.push(part);
    return compiled(part);
  };
  const { engine, log } = await start('three', { snapshot: at('three', 'kubetab.snapshot'), later });
  await use(engine);
  assert.deepEqual(asked, ['soon']);
  assert.equal(await (await engine.fetch('/seldom/goroutine')).text(), 'done');
  assert.deepEqual(asked, ['soon', 'rest']);
  await use(engine);
  assert.equal(log(), '');
  await engine.close();
});

test('what JavaScript waits for does not wait for what comes soon', async () => {
  place('bare');
  writeFileSync(at('none.txt'), ''); // nothing is called first: not even what handles calls of JavaScript is in the engine
  cut('bare', '-parked', at('parked.json'), '-first', at('none.txt'), '-soon', at('bare', 'kubetab.soon.wasm'));
  writeFileSync(at('bare', 'kubetab.snapshot'), await takeSnapshot({ wasm: at('bare', 'kubetab.wasm') }));
  let bring;
  const brought = new Promise((resolve) => (bring = resolve));
  const later = async (slot, part) => {
    await brought;
    return WebAssembly.compile(readFileSync(at('bare', `kubetab.${part}.wasm`)));
  };
  let go;
  const { engine } = await start('bare', { snapshot: at('bare', 'kubetab.snapshot'), later, onProgram: (program) => (go = program) });

  // A finalizer is called by way of registers, which nobody keeps for a function that has to be waited for.
  const passed = [{}, {}, {}];
  globalThis.kubetabEngine.collect(...passed);
  await until('what was passed is released', () => !passed.some((value) => go._values.includes(value)));
  bring();
  await use(engine);
  assert.equal(await (await engine.fetch('/seldom/goroutine')).text(), 'done');
  await engine.close();
});

test('what is called before it has come waits, and what cannot come is told and asked for again', async () => {
  let isOnline = false;
  const asked = [];
  const retries = [];
  const later = async (slot, part) => {
    asked.push(part);
    if (!isOnline) throw new Error('there is no network.');
    return compiled(part);
  };
  const why = /could not be downloaded: there is no network\./;
  const { engine } = await start('three', { snapshot: at('three', 'kubetab.snapshot'), later, after: (retry) => retries.push(retry) });
  await assert.rejects(engine.fetch('/seldom/heap'), why);
  assert.ok(asked.every((part) => part === 'soon'), `${asked}`);
  isOnline = true;
  retries.at(-1)();
  assert.match(await (await engine.fetch('/seldom/heap')).text(), /./);
  assert.deepEqual(asked.slice(-2), ['soon', 'rest']);
  await use(engine);
  await engine.close();
});

test('requests that cannot have what they call fail, with those that wait for their locks, and the engine goes on', async () => {
  let attempts = 0;
  let isOnline = false;
  const retries = [];
  const later = async () => {
    attempts++;
    if (!isOnline) throw new Error('there is no network.');
    return compiledRest('lean');
  };
  const { engine } = await start('lean', { snapshot: at('lean', 'kubetab.snapshot'), later, after: (retry) => retries.push(retry) });
  const why = /could not be downloaded: there is no network\./;
  for (const name of ['lock', 'heap', 'goroutine']) await assert.rejects(engine.fetch(`/seldom/${name}`), why, name);
  assert.equal(attempts, 2); // once, and at once again; then not before it is time
  assert.equal(retries.length, 1);
  const blocked = engine.fetch('/seldom/lock');
  await use(engine);
  retries.at(-1)();
  await assert.rejects(blocked, why);
  await use(engine);

  isOnline = true;
  retries.at(-1)();
  assert.match(await (await engine.fetch('/seldom/lock')).text(), /^abc!+$/); // whoever held it has gone on
  await use(engine);
  assert.equal(await (await engine.fetch('/seldom/goroutine')).text(), 'done');
  await engine.close();
});

test('without the rest, or with another one, the engine says what is wrong', async () => {
  const snapshot = at('cut', 'kubetab.snapshot');
  const rest = at('cut', 'kubetab.rest.wasm');
  const kept = readFileSync(rest);
  const fails = async (why) => {
    const { engine } = await start('cut', { snapshot });
    await assert.rejects(recursion(engine), why);
  };
  cut('other', '-parked', at('parked.json'));
  copyFileSync(at('other', 'kubetab.rest.wasm'), rest);
  await fails(/LinkError: .*Import #\d+ .*engine/);
  writeFileSync(rest, kept.subarray(0, kept.length / 2));
  await fails(/WebAssembly\.Module/);
  unlinkSync(rest);
  assert.ok(!existsSync(rest));
  await fails(/kubetab\.rest\.wasm/);
});

test('a module that is torn, or no module, is refused', () => {
  const bytes = readFileSync(whole);
  for (const part of [0, 4, 9, 100, bytes.length / 2, bytes.length - 1]) {
    writeFileSync(at('torn.wasm'), bytes.subarray(0, part));
    const run = () => execFileSync(split, ['-mark', '-o', at('never.wasm'), at('torn.wasm')], { stdio: 'pipe', encoding: 'utf8' });
    assert.throws(run, ({ stderr }) => /^split: .*torn\.wasm: (the module is torn|not a WebAssembly module|no function table|\d+ functions)/.test(stderr), `the first ${part} bytes`);
    assert.ok(!existsSync(at('never.wasm')));
  }
});
