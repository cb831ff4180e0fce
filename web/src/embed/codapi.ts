/*
 * embed-codapi.js: an engine for snippets of codapi (https://github.com/nalgeon/codapi-js), beside its own script:
 *
 *   <script src="https://.../embed-codapi.js" defer></script>
 *   <pre>kubectl get namespaces</pre>
 *   <codapi-snippet engine="kubetab" sandbox="kubectl" editor="basic"></codapi-snippet>
 *
 * docs/embed.md says what it takes.
 */
import { PageEngine } from './engine';
import { heredoc, type Piece, written } from './run';

/** As codapi's engines have it: `init` is what a page may call beforehand. */
interface CodapiRequest {
  readonly sandbox: string;
  readonly command: string;
  /** By path; the snippet's own text is that of "". */
  readonly files: Readonly<Record<string, string>>;
}

const script = (document.currentScript ??
  document.querySelector('script[src*="embed-codapi.js"]')) as HTMLScriptElement;
const { setup = '', bundle = '', timeout = '60' } = script.dataset;
const engine = new PageEngine({ site: new URL('./', script.src), setup, bundle, session: '' });

/** @throws Error with a sentence, in place of which codapi shows what the page has as output */
async function exec({ sandbox, command, files: { '': code = '', ...files } }: CodapiRequest) {
  const isYaml = sandbox === 'yaml';
  if (!isYaml && sandbox !== 'kubectl') throw new Error(`unknown sandbox: ${sandbox}`);
  if (command !== 'run') throw new Error(`unknown command: ${sandbox}.${command}`);
  const lines =
    Object.entries(files).map(written).join('') +
    (isYaml ? `kubectl apply -f - ${heredoc(code)}` : code);
  const kubetab = await engine.get();
  const began = performance.now();
  // Nothing in codapi's bar ends a command.
  const signal = AbortSignal.timeout(Number(timeout) * 1000);
  const printed = { stdout: '', stderr: '', both: '' };
  const onOutput = ({ stdout = '', stderr = '' }: Piece) => {
    printed.stdout += stdout;
    printed.stderr += stderr;
    printed.both += stdout + stderr;
  };
  const { exitCode } = await kubetab.run(lines, { signal, onOutput }).catch((error: unknown) => {
    if (!signal.aborted) throw error;
    onOutput({ stderr: `Ended after ${timeout} s.\n` });
    return { exitCode: 130 };
  });
  const duration = Math.round(performance.now() - began);
  const { stdout, stderr, both } = printed;
  // codapi shows the one or the other.
  const shown = stdout && stderr ? { stdout: both, stderr: '' } : { stdout, stderr };
  return { ok: exitCode === 0, duration, ...shown };
}

declare global {
  interface Window {
    codapi?: { engines?: Record<string, unknown> };
  }
}

window.codapi ??= {};
window.codapi.engines = { ...window.codapi.engines, kubetab: { init: () => engine.get(), exec } };
