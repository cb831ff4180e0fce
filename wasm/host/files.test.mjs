// The files in memory against node's own: whatever one does, the other must do, error codes included.
import assert from 'node:assert/strict';
import * as fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { MemoryFiles, resolvePath } from './files.mjs';

function memory() {
  const scope = { fs: { writeSync: () => 0 }, process: {} };
  new MemoryFiles().install(scope);
  return scope;
}

// Both worlds with the same calls; every result is a value or an error code.
function worlds() {
  const root = fs.mkdtempSync(join(tmpdir(), 'files-'));
  const scope = memory();
  const real = { root, call: (name, ...args) => attempt(() => fs[`${name}Sync`](...args)) };
  const ours = {
    root: '/tmp/w',
    call: (name, ...args) =>
      attempt(() => {
        let result;
        scope.fs[name](...args, (error, value) => {
          if (error) throw error;
          result = value;
        });
        return result;
      }),
  };
  ours.call('mkdir', '/tmp/w', 0o755);
  return { real, ours, end: () => fs.rmSync(root, { recursive: true }) };
}

function attempt(f) {
  try {
    return f();
  } catch (error) {
    if (!error.code) throw error;
    return error.code;
  }
}

const { O_RDONLY, O_WRONLY, O_RDWR, O_CREAT, O_EXCL, O_TRUNC, O_APPEND } = fs.constants;

// Writes and reads a file through a descriptor, in the calls that Go makes.
function put(world, name, flags, text) {
  const fd = world.call('open', join(world.root, name), flags, 0o644);
  if (typeof fd !== 'number') return fd;
  const written = world.call('write', fd, new TextEncoder().encode(text), 0, text.length, null);
  world.call('close', fd);
  return written;
}

function get(world, name) {
  const fd = world.call('open', join(world.root, name), O_RDONLY, 0);
  if (typeof fd !== 'number') return fd;
  const buffer = new Uint8Array(64);
  const n = world.call('read', fd, buffer, 0, 64, null);
  world.call('close', fd);
  return typeof n === 'number' ? new TextDecoder().decode(buffer.subarray(0, n)) : n;
}

test('does what a real file system does', () => {
  const { real, ours, end } = worlds();
  const steps = [
    (w) => put(w, 'a', O_WRONLY | O_CREAT, 'hello'),
    (w) => get(w, 'a'),
    (w) => put(w, 'a', O_WRONLY | O_APPEND, ' world'),
    (w) => get(w, 'a'),
    (w) => put(w, 'a', O_WRONLY | O_CREAT | O_TRUNC, 'x'),
    (w) => get(w, 'a'),
    (w) => put(w, 'a', O_WRONLY | O_CREAT | O_EXCL, 'x'),
    (w) => put(w, 'none/a', O_WRONLY | O_CREAT, 'x'),
    (w) => put(w, 'a/b', O_WRONLY | O_CREAT, 'x'),
    (w) => put(w, 'a', O_RDONLY, 'x'),
    (w) => get(w, 'none'),
    (w) => w.call('mkdir', join(w.root, 'd'), 0o755),
    (w) => w.call('mkdir', join(w.root, 'd'), 0o755),
    (w) => w.call('mkdir', join(w.root, 'x/y'), 0o755),
    (w) => put(w, 'd', O_RDWR, 'x'),
    (w) => get(w, 'd'),
    (w) => put(w, 'd/one', O_WRONLY | O_CREAT, '1'),
    (w) => w.call('readdir', w.root).sort(),
    (w) => w.call('readdir', join(w.root, 'a')),
    (w) => w.call('rmdir', join(w.root, 'd')),
    (w) => w.call('rmdir', join(w.root, 'a')),
    (w) => w.call('unlink', join(w.root, 'd')) !== undefined, // EISDIR or EPERM, as the system says it
    (w) => w.call('symlink', 'd/one', join(w.root, 'link')),
    (w) => get(w, 'link'),
    (w) => w.call('readlink', join(w.root, 'link')),
    (w) => w.call('readlink', join(w.root, 'a')),
    (w) => w.call('symlink', 'loop', join(w.root, 'loop')),
    (w) => get(w, 'loop'),
    (w) => w.call('symlink', 'd', join(w.root, 'dlink')),
    (w) => get(w, 'dlink/one'),
    (w) => put(w, 'dlink/two', O_WRONLY | O_CREAT, '2'),
    (w) => w.call('rename', join(w.root, 'a'), join(w.root, 'b')),
    (w) => get(w, 'a'),
    (w) => get(w, 'b'),
    (w) => w.call('rename', join(w.root, 'b'), join(w.root, 'd')),
    (w) => w.call('rename', join(w.root, 'd'), join(w.root, 'd/inside')),
    (w) => w.call('rename', join(w.root, 'none'), join(w.root, 'x')),
    (w) => w.call('rename', join(w.root, 'd'), join(w.root, 'e')),
    (w) => put(w, 'n'.repeat(255), O_WRONLY | O_CREAT, '1'),
    (w) => put(w, 'n'.repeat(256), O_WRONLY | O_CREAT, '1'),
    (w) => w.call('mkdir', join(w.root, '名'.repeat(86)), 0o755),
    (w) => w.call('rename', join(w.root, 'n'.repeat(255)), join(w.root, 'n'.repeat(256))),
    (w) => get(w, 'e/two'),
    (w) => w.call('truncate', join(w.root, 'b'), 3),
    (w) => get(w, 'b'),
    (w) => w.call('unlink', join(w.root, 'b')),
    (w) => w.call('unlink', join(w.root, 'b')),
    (w) => w.call('readdir', w.root).sort(),
    (w) => w.call('stat', join(w.root, 'e')).isDirectory(),
    (w) => w.call('stat', join(w.root, 'e/one')).size,
    (w) => w.call('stat', join(w.root, 'loop')),
    (w) => w.call('lstat', join(w.root, 'loop')).isDirectory(),
    (w) => w.call('stat', join(w.root, 'e/one/deeper')),
    (w) => w.call('chmod', join(w.root, 'e/one'), 0o600),
    (w) => (w.call('stat', join(w.root, 'e/one')).mode & 0o777).toString(8),
  ];
  for (const [i, step] of steps.entries()) {
    assert.deepEqual(step(ours), step(real), `step ${i}: ${step}`);
  }
  end();
});

test('an open file outlives its name', () => {
  const { fs: files } = memory();
  const call = (name, ...args) => {
    let result;
    files[name](...args, (error, value) => {
      if (error) throw error;
      result = value;
    });
    return result;
  };
  const flags = files.constants.O_RDWR | files.constants.O_CREAT;
  const fd = call('open', '/tmp/f', flags, 0o600);
  call('write', fd, new TextEncoder().encode('kept'), 0, 4, null);
  call('unlink', '/tmp/f');
  const buffer = new Uint8Array(4);
  assert.equal(call('read', fd, buffer, 0, 4, 0), 4);
  assert.equal(new TextDecoder().decode(buffer), 'kept');
  call('close', fd);
  assert.throws(() => call('read', fd, buffer, 0, 4, 0), { code: 'EBADF' });
});

test('names are relative to the folder that the program is in', () => {
  const { process } = memory();
  process.chdir('/tmp');
  assert.equal(process.cwd(), '/tmp');
  assert.throws(() => process.chdir('nowhere'), { code: 'ENOENT' });
  assert.equal(resolvePath('/a/b', '../c/./d//e'), '/a/c/d/e');
  assert.equal(resolvePath('/a', '/../..'), '/');
});

test('what is too much is refused, and the rest stays', () => {
  const { fs: files } = memory();
  const call = (name, ...args) => {
    let result;
    files[name](...args, (error, value) => {
      result = error ? error.code : value;
    });
    return result;
  };
  const fd = call('open', '/tmp/big', files.constants.O_RDWR | files.constants.O_CREAT, 0o600);
  assert.equal(call('write', fd, new Uint8Array(8), 0, 8, 300 * 1024 * 1024), 'ENOSPC');
  assert.equal(call('write', fd, new Uint8Array(8), 0, 8, 0), 8);
});

// Calls on files in memory, whose results are values or error codes.
function calls() {
  const scope = memory();
  return (name, ...args) =>
    attempt(() => {
      let result;
      scope.fs[name](...args, (error, value) => {
        if (error) throw error;
        result = value;
      });
      return result;
    });
}

test('there is an end to what files hold, and room when one is gone', () => {
  const call = calls();
  const MiB = 1024 * 1024;
  const piece = new Uint8Array(16 * MiB);
  const fill = (name) => {
    const fd = call('open', name, O_WRONLY | O_CREAT | O_TRUNC, 0o644);
    let size = 0;
    if (fd === 'ENOSPC') return { fd, size };
    for (;;) {
      const n = call('write', fd, piece, 0, piece.length, null);
      if (n === 'ENOSPC') return { fd, size };
      assert.equal(n, piece.length);
      size += n;
    }
  };
  const whole = fill('/tmp/a');
  assert.equal(whole.size, 240 * MiB); // the last piece has no room beside what the folders take
  call('close', whole.fd);
  assert.equal(put({ root: '/tmp', call }, 'small', O_WRONLY | O_CREAT, 'text'), 4);
  const first = { fd: call('open', '/tmp/a', O_RDONLY, 0) };
  const room = () => {
    const { fd, size } = fill('/tmp/b');
    call('close', fd);
    call('unlink', '/tmp/b');
    return size;
  };
  assert.equal(room(), 0);
  // A link is another name of the same bytes, and so is a descriptor.
  assert.equal(call('link', '/tmp/a', '/tmp/c'), undefined);
  call('unlink', '/tmp/a');
  assert.equal(room(), 0);
  call('unlink', '/tmp/c');
  assert.equal(room(), 0);
  call('close', first.fd);
  assert.equal(room(), 240 * MiB);
  assert.equal(room(), 240 * MiB);
  // What is truncated is given back.
  const { fd } = fill('/tmp/a');
  call('ftruncate', fd, 0);
  assert.equal(room(), 240 * MiB);
  call('close', fd);
  call('close', fill('/tmp/a').fd);
  call('close', call('open', '/tmp/a', O_WRONLY | O_TRUNC, 0));
  assert.equal(room(), 240 * MiB);
});

// A file is kept in pieces of 1 MiB.
test('a file of megabytes has at each place what was written there', () => {
  const call = calls();
  const MOST = 3.5 * 1024 * 1024;
  const wanted = new Uint8Array(MOST);
  let size = 0;
  let seed = 1;
  const random = (below) => (seed = (seed * 48271) % 0x7fffffff) % below; // MINSTD
  const fd = call('open', '/tmp/a', O_RDWR | O_CREAT, 0o644);
  for (let round = 0; round < 300; round++) {
    const at = random(2) ? random(MOST) : 1024 * 1024 * (1 + random(3)) - random(3);
    const length = Math.min(random(3) ? random(1000) : random(MOST), MOST - at);
    switch (random(4)) {
      case 0:
        assert.equal(call('ftruncate', fd, at), undefined);
        if (at < size) wanted.fill(0, at, size);
        size = at;
        break;
      case 1: {
        const buffer = new Uint8Array(length + 2);
        const n = call('read', fd, buffer, 1, length, at);
        assert.equal(n, Math.max(0, Math.min(length, size - at)));
        assert.equal(Buffer.compare(buffer.subarray(1, 1 + n), wanted.subarray(at, at + n)), 0, `round ${round}`);
        assert.ok(buffer[0] === 0 && buffer[n + 1] === 0);
        break;
      }
      default: {
        const bytes = new Uint8Array(length).fill(1 + random(255));
        assert.equal(call('write', fd, bytes, 0, length, at), length);
        wanted.set(bytes, at);
        size = Math.max(size, length && at + length);
      }
    }
  }
  const all = new Uint8Array(MOST);
  assert.equal(call('read', fd, all, 0, MOST, 0), size);
  assert.equal(Buffer.compare(all, wanted), 0);
});

test('what was cut off does not come back when the file grows', () => {
  const call = calls();
  const fd = call('open', '/tmp/a', O_RDWR | O_CREAT, 0o644);
  const MiB = 1024 * 1024;
  for (const whole of [4000, 3 * MiB]) {
    for (const kept of [whole - 100, whole - 1000, 10]) {
      call('ftruncate', fd, 0);
      call('write', fd, new Uint8Array(whole).fill(7), 0, whole, 0);
      call('ftruncate', fd, kept);
      call('write', fd, new Uint8Array(1).fill(7), 0, 1, whole - 1);
      const all = new Uint8Array(whole);
      assert.equal(call('read', fd, all, 0, whole, 0), whole);
      assert.ok(
        all.every((byte, at) => byte === (at < kept || at === whole - 1 ? 7 : 0)),
        `${whole} cut to ${kept}`,
      );
    }
  }
});

test('empty files and folders are not free', () => {
  const call = calls();
  let made = 0;
  for (; made < 1_000_000; made++) if (call('mkdir', `/tmp/${made}`, 0o755) === 'ENOSPC') break;
  assert.ok(made > 200_000 && made < 300_000, `${made} folders`);
  assert.equal(call('rmdir', '/tmp/0'), undefined);
  assert.equal(call('mkdir', '/tmp/0', 0o755), undefined);
});

test('devices have no end', () => {
  const call = calls();
  const buffer = new Uint8Array(100_000).fill(7);
  const read = (name) => call('read', call('open', name, O_RDONLY, 0), buffer, 0, buffer.length, null);
  assert.equal(read('/dev/zero'), buffer.length);
  assert.ok(buffer.every((byte) => byte === 0));
  assert.equal(read('/dev/urandom'), buffer.length);
  assert.ok(new Set(buffer).size > 200);
  assert.equal(read('/dev/null'), 0);
  assert.equal(call('write', call('open', '/dev/zero', O_WRONLY | O_CREAT | O_TRUNC, 0), buffer, 0, buffer.length, null), buffer.length);
});
