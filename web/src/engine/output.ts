/**
 * What the Go program prints (stdout and stderr are one here): the last of it is kept, because a panic's trace is the
 * only account of why a program died. Of such a trace the beginning is kept, which tells what happened and where: behind
 * it come all other goroutines, thousands of lines.
 */
export interface Output {
  text(): string;
  /** The line that begins the last panic or fatal error, or nothing. */
  lastPanic(): string;
}

const KEEP_LINES = 400;
const PANIC = /^(panic|fatal error): /;

interface GoFileSystem {
  writeSync(fd: number, bytes: Uint8Array): number;
}

/**
 * Takes over `fs.writeSync`, which wasm_exec.js installs and Go's runtime prints through.
 * Lines also go to the console of the worker, as they would without us.
 */
export function captureOutput(): Output {
  const decoder = new TextDecoder();
  const lines: string[] = [];
  let open = '';
  let panic = '';
  let ofPanic = 0; // lines
  const { fs } = globalThis as typeof globalThis & { fs: GoFileSystem };
  fs.writeSync = (_fd, bytes) => {
    const parts = (open + decoder.decode(bytes, { stream: true })).split('\n');
    open = parts.pop() ?? '';
    for (const line of parts) {
      console.log(line);
      if (PANIC.test(line)) [panic, ofPanic] = [line, 0];
      if (panic && ++ofPanic > KEEP_LINES / 2) continue;
      lines.push(line);
    }
    if (lines.length > KEEP_LINES) lines.splice(0, lines.length - KEEP_LINES);
    return bytes.length;
  };
  return {
    text: () => [...lines, open].join('\n').trim(),
    lastPanic: () => panic,
  };
}
