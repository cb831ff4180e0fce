// The files of the Go program: a small file system in memory, in the shape of node's `fs` that Go's wasm_exec.js
// expects. It is the same in the page's worker and under Node, where the real disk is never touched.
//
// Go calls each function with a callback, which is called before the function returns.
// Errors are given by their codes. Standard output and error are not files here: they stay what wasm_exec.js made of them.

const TYPE = 0o170000;
const FOLDER = 0o040000;
const FILE = 0o100000;
const LINK = 0o120000;
const DEVICE = 0o020000;

const constants = { O_WRONLY: 1, O_RDWR: 2, O_CREAT: 0o100, O_EXCL: 0o200, O_TRUNC: 0o1000, O_APPEND: 0o2000, O_DIRECTORY: 0o200000 };

// Links that lead to links that lead to ...
const MOST_LINKS = 40;

// Bytes of a name, as other file systems have it: what is saved here can be written there.
const LONGEST_NAME = 255;

// What all files together may take: a tab has a few hundred megabytes. One file may take all of it. What follows is
// refused with ENOSPC, until something is removed or truncated.
const MOST_BYTES = 256 * 1024 * 1024;

// What a file, a folder or a link takes beside its bytes: a hundred thousand empty files are not free.
const NODE_BYTES = 1024;

// The bytes of a file are in pieces. One that doubled its room would be copied whole in the thread of the API server, which at
// 128 MB held it for 75 ms.
const PIECE_BYTES = 1024 * 1024;

// The largest piece that crypto.getRandomValues fills.
const RANDOM_BYTES = 65536;

// What reading from a device gives: how it fills a buffer. What is written to it is gone.
const devices = {
  null: () => 0,
  zero: (bytes) => {
    bytes.fill(0);
    return bytes.length;
  },
  urandom: (bytes) => {
    for (let at = 0; at < bytes.length; at += RANDOM_BYTES) crypto.getRandomValues(bytes.subarray(at, at + RANDOM_BYTES));
    return bytes.length;
  },
};
devices.random = devices.urandom;

const failure = (code) => Object.assign(new Error(code), { code });

function checkName(name) {
  if (new TextEncoder().encode(name).length > LONGEST_NAME) throw failure('ENAMETOOLONG');
}

class Stats {
  constructor(node) {
    Object.assign(this, { dev: 1, ino: node.ino, mode: node.mode, nlink: 1, uid: 1000, gid: 1000, rdev: 0 });
    Object.assign(this, { size: node.size, blksize: 4096, blocks: Math.ceil(node.size / 512) });
    Object.assign(this, { atimeMs: node.modified, mtimeMs: node.modified, ctimeMs: node.modified });
  }

  isDirectory() {
    return (this.mode & TYPE) === FOLDER;
  }
}

// What a file holds.
class Content {
  #pieces = []; // of PIECE_BYTES, but for the last, which may be shorter
  #room = 0;

  /** How many bytes there is room for; those beyond the file's size are 0. */
  get room() {
    return this.#room;
  }

  /** @throws {RangeError} when the tab itself has no more; nothing has changed then */
  set room(bytes) {
    const pieces = [];
    for (let at = 0; at < bytes; at += PIECE_BYTES) {
      const length = Math.min(PIECE_BYTES, bytes - at);
      const before = this.#pieces[pieces.length];
      if (before?.length === length) {
        pieces.push(before);
        continue;
      }
      const piece = new Uint8Array(length);
      if (before) piece.set(before.subarray(0, length));
      pieces.push(piece);
    }
    this.#pieces = pieces;
    this.#room = bytes;
  }

  // The parts of the pieces that have the bytes from one place to another.
  *#parts(from, to) {
    for (let at = from; at < to; ) {
      const start = at % PIECE_BYTES;
      const part = this.#pieces[Math.floor(at / PIECE_BYTES)].subarray(start, start + to - at);
      yield part;
      at += part.length;
    }
  }

  read(from, to, buffer, offset) {
    for (const part of this.#parts(from, to)) {
      buffer.set(part, offset);
      offset += part.length;
    }
  }

  write(from, bytes) {
    let at = 0;
    for (const part of this.#parts(from, from + bytes.length)) part.set(bytes.subarray(at, (at += part.length)));
  }

  clear(from, to) {
    for (const part of this.#parts(from, to)) part.fill(0);
  }
}

class Node {
  static #last = 0;

  constructor(mode) {
    this.ino = ++Node.#last;
    this.mode = mode;
    this.modified = Date.now();
    this.size = 0;
    this.names = 1; // how many entries of folders it is
    this.opened = 0; // how many descriptors it has
    if (this.isFolder) this.entries = new Map();
    else this.content = new Content(); // with room for size
  }

  get isFolder() {
    return (this.mode & TYPE) === FOLDER;
  }

  get isLink() {
    return (this.mode & TYPE) === LINK;
  }

  touch() {
    this.modified = Date.now();
  }
}

/** Resolves path segments as POSIX does, from `from` where they are relative. */
export function resolvePath(from, path) {
  const parts = [];
  for (const part of (path.startsWith('/') ? path : `${from}/${path}`).split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return `/${parts.join('/')}`;
}

export class MemoryFiles {
  #root = new Node(FOLDER | 0o755);
  #open = new Map(); // by descriptor
  #lastDescriptor = 99; // 0 to 2 are not ours
  #used = 0; // bytes
  cwd = '/';

  constructor() {
    for (const path of ['/dev', '/tmp']) this.#mkdir(path, 0o777);
    for (const [name, device] of Object.entries(devices)) {
      const node = new Node(DEVICE | 0o666);
      node.device = device;
      this.#place('/dev', true).node.entries.set(name, node);
    }
  }

  // Where a path leads: the folder that it is in, its name there, and the node if there is one. A link at the end is
  // followed when follow says so.
  #place(path, follow, links = 0) {
    const full = resolvePath(this.cwd, path);
    let folder = this.#root;
    let at = '/';
    const parts = full.split('/').filter(Boolean);
    if (parts.length === 0) return { folder, name: '', node: folder };
    for (const [i, name] of parts.entries()) {
      if (!folder.isFolder) throw failure('ENOTDIR');
      const node = folder.entries.get(name);
      const last = i === parts.length - 1;
      if (node?.isLink && (follow || !last)) {
        if (links >= MOST_LINKS) throw failure('ELOOP');
        const rest = [resolvePath(at, node.target), ...parts.slice(i + 1)].join('/');
        return this.#place(rest, follow, links + 1);
      }
      if (last) return { folder, name, node };
      if (!node) throw failure('ENOENT');
      folder = node;
      at = `${at === '/' ? '' : at}/${name}`;
    }
    throw failure('ENOENT'); // never reached: parts is not empty
  }

  #node(path, follow = true) {
    const { node } = this.#place(path, follow);
    if (!node) throw failure('ENOENT');
    return node;
  }

  #add(path, node) {
    const place = this.#place(path, false);
    if (place.node) throw failure('EEXIST');
    this.#enter(place, node);
  }

  // Makes a node the one of a place that has none.
  #enter({ folder, name }, node) {
    if (!folder.isFolder) throw failure('ENOTDIR');
    checkName(name);
    this.#take(NODE_BYTES);
    folder.entries.set(name, node);
    folder.touch();
  }

  #take(bytes) {
    if (this.#used + bytes > MOST_BYTES) throw failure('ENOSPC');
    this.#used += bytes;
  }

  #mkdir(path, mode) {
    this.#add(path, new Node(FOLDER | (mode & 0o7777)));
  }

  #file(fd) {
    const file = this.#open.get(fd);
    if (!file) throw failure('EBADF');
    return file;
  }

  #resize(node, size) {
    const { content } = node;
    if (size > content.room) {
      // More than is asked for, where there is as much, so that a file that grows is seldom copied.
      const most = content.room + MOST_BYTES - this.#used;
      const more = size > PIECE_BYTES ? Math.ceil(size / PIECE_BYTES) * PIECE_BYTES : Math.max(256, Math.min(content.room * 2, PIECE_BYTES));
      this.#makeRoom(content, Math.max(size, Math.min(more, most)));
    } else if (size < node.size) {
      content.clear(size, node.size);
      if (size < content.room / 4 || content.room - size > PIECE_BYTES) this.#makeRoom(content, size);
    }
    node.size = size;
    node.touch();
  }

  #makeRoom(content, bytes) {
    const more = bytes - content.room;
    if (more > 0) this.#take(more);
    try {
      content.room = bytes;
    } catch {
      if (more > 0) this.#used -= more;
      throw failure('ENOSPC'); // the tab itself has no more
    }
    if (more < 0) this.#used += more;
  }

  // Takes a name from a node. Its bytes are there as long as somebody has it open.
  #drop(node) {
    this.#used -= NODE_BYTES;
    node.names--;
    this.#free(node);
  }

  #free(node) {
    if (node.names > 0 || node.opened > 0 || node.isFolder) return;
    this.#used -= node.content.room;
    node.content = new Content();
    node.size = 0;
  }

  #functions = {
    open: (path, flags, mode) => {
      const found = this.#place(path, true);
      let { node } = found;
      const writes = (flags & 3) !== 0;
      if (!node) {
        if (!(flags & constants.O_CREAT)) throw failure('ENOENT');
        node = new Node(FILE | (mode & 0o7777));
        this.#enter(found, node);
      } else if (flags & constants.O_CREAT && flags & constants.O_EXCL) {
        throw failure('EEXIST');
      }
      if (node.isFolder && writes) throw failure('EISDIR');
      if (!node.isFolder && flags & constants.O_DIRECTORY) throw failure('ENOTDIR');
      if (flags & constants.O_TRUNC && !node.isFolder && !node.device) this.#resize(node, 0);
      const fd = ++this.#lastDescriptor;
      node.opened++;
      this.#open.set(fd, { node, at: 0, appends: (flags & constants.O_APPEND) !== 0, reads: (flags & 3) !== 1, writes });
      return fd;
    },
    close: (fd) => {
      const { node } = this.#file(fd);
      this.#open.delete(fd);
      node.opened--;
      this.#free(node);
    },
    read: (fd, buffer, offset, length, position) => {
      const file = this.#file(fd);
      if (!file.reads) throw failure('EBADF');
      if (file.node.isFolder) throw failure('EISDIR');
      if (file.node.device) return file.node.device(buffer.subarray(offset, offset + length));
      const from = position ?? file.at;
      const to = Math.max(from, Math.min(from + length, file.node.size));
      file.node.content.read(from, to, buffer, offset);
      if (position === null) file.at += to - from;
      return to - from;
    },
    write: (fd, buffer, offset, length, position) => {
      const file = this.#file(fd);
      if (!file.writes) throw failure('EBADF');
      if ((file.node.mode & TYPE) === DEVICE) return length;
      const at = file.appends ? file.node.size : (position ?? file.at);
      if (at + length > file.node.size) this.#resize(file.node, at + length);
      file.node.content.write(at, buffer.subarray(offset, offset + length));
      file.node.touch();
      if (position === null) file.at = at + length;
      return length;
    },
    fstat: (fd) => new Stats(this.#file(fd).node),
    stat: (path) => new Stats(this.#node(path)),
    lstat: (path) => new Stats(this.#node(path, false)),
    readdir: (path) => {
      const node = this.#node(path);
      if (!node.isFolder) throw failure('ENOTDIR');
      return [...node.entries.keys()].sort();
    },
    mkdir: (path, mode) => this.#mkdir(path, mode),
    rmdir: (path) => {
      const { folder, name, node } = this.#place(path, false);
      if (!node) throw failure('ENOENT');
      if (!node.isFolder) throw failure('ENOTDIR');
      if (node.entries.size > 0) throw failure('ENOTEMPTY');
      if (node === this.#root) throw failure('EBUSY');
      this.#drop(node);
      folder.entries.delete(name);
      folder.touch();
    },
    unlink: (path) => {
      const { folder, name, node } = this.#place(path, false);
      if (!node) throw failure('ENOENT');
      if (node.isFolder) throw failure('EISDIR');
      this.#drop(node);
      folder.entries.delete(name);
      folder.touch();
    },
    rename: (from, to) => {
      const source = this.#place(from, false);
      if (!source.node) throw failure('ENOENT');
      if (source.node === this.#root) throw failure('EBUSY');
      const target = this.#place(to, false);
      if (target.node === source.node) return;
      checkName(target.name);
      if (`${resolvePath(this.cwd, to)}/`.startsWith(`${resolvePath(this.cwd, from)}/`)) throw failure('EINVAL');
      if (target.node) {
        if (target.node.isFolder && !source.node.isFolder) throw failure('EISDIR');
        if (!target.node.isFolder && source.node.isFolder) throw failure('ENOTDIR');
        if (target.node.isFolder && target.node.entries.size > 0) throw failure('ENOTEMPTY');
        this.#drop(target.node);
      }
      source.folder.entries.delete(source.name);
      target.folder.entries.set(target.name, source.node);
      source.folder.touch();
      target.folder.touch();
    },
    symlink: (target, path) => {
      const node = new Node(LINK | 0o777);
      node.target = target;
      node.size = target.length;
      this.#add(path, node);
    },
    readlink: (path) => {
      const node = this.#node(path, false);
      if (!node.isLink) throw failure('EINVAL');
      return node.target;
    },
    link: (path, link) => {
      const node = this.#node(path);
      this.#add(link, node);
      node.names++;
    },
    chmod: (path, mode) => this.#chmod(this.#node(path), mode),
    fchmod: (fd, mode) => this.#chmod(this.#file(fd).node, mode),
    chown: (path) => void this.#node(path),
    fchown: (fd) => void this.#file(fd),
    lchown: (path) => void this.#node(path, false),
    truncate: (path, length) => this.#truncate(this.#node(path), length),
    ftruncate: (fd, length) => this.#truncate(this.#file(fd).node, length),
    utimes: (path, _accessed, modified) => {
      this.#node(path).modified = modified * 1000;
    },
    fsync: () => {},
  };

  #chmod(node, mode) {
    node.mode = (node.mode & TYPE) | (mode & 0o7777);
  }

  #truncate(node, length) {
    if (node.isFolder) throw failure('EISDIR');
    if (!node.device) this.#resize(node, length);
  }

  /**
   * Puts the files in the place of what wasm_exec.js has put on `scope`, whose writes to standard output and error are
   * left to it. Must be called after wasm_exec.js has been loaded and before the program runs.
   *
   * Go goes on in each callback at once, and still gives way when its turn is over: a call into Go inside of one that has not
   * returned is part of the turn around it (runtime/lock_js.go in wasm/patch).
   *
   * @param {object} scope globalThis
   */
  install(scope) {
    const standard = scope.fs;
    const fs = { constants, writeSync: (fd, bytes) => standard.writeSync(fd, bytes) };
    for (const [name, call] of Object.entries(this.#functions)) {
      fs[name] = (...args) => {
        const done = args.pop();
        if (name === 'write' && args[0] <= 2) return done(null, fs.writeSync(args[0], args[1]));
        let result;
        try {
          result = call(...args);
        } catch (error) {
          if (!error.code) throw error;
          return done(error);
        }
        done(null, result);
      };
    }
    scope.fs = fs;
    scope.path = { resolve: (...segments) => segments.reduce((from, segment) => resolvePath(from, segment), this.cwd) };
    scope.process.cwd = () => this.cwd;
    scope.process.chdir = (path) => {
      if (!this.#node(path).isFolder) throw failure('ENOTDIR');
      this.cwd = resolvePath(this.cwd, path);
    };
  }
}

/** The environment of the Go program. */
export const environment = { HOME: '/home/kubetab', TMPDIR: '/tmp' };
