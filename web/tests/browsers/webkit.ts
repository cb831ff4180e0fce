import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import type { Browser, Tab } from './browser';

const LIBRARIES = '/usr/lib';
const ELEMENT = 'element-6066-11e4-a52e-4f735466cecf';
const ENTER = '\ue007';

/** WebKitGTK's MiniBrowser, by WebDriver (https://www.w3.org/TR/webdriver2/), on a display of its own. */
export async function webkit(): Promise<Browser> {
  const [display, screen] = await start(
    'Xvfb',
    ['-displayfd', '1', '-screen', '0', '1440x900x24'],
    {},
  );
  const port = await freePort();
  const env = {
    DISPLAY: `:${screen.trim()}`,
    LIBGL_ALWAYS_SOFTWARE: '1',
    WEBKIT_DISABLE_COMPOSITING_MODE: '1',
  };
  const driver = spawn('WebKitWebDriver', [`--port=${port}`], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
  });
  const command = async (method: string, path: string, body?: object): Promise<never> => {
    const answer = await fetch(`http://127.0.0.1:${port}/session${path}`, {
      method,
      ...(method === 'POST' && { body: JSON.stringify(body ?? {}) }),
    });
    const { value } = await answer.json();
    if (!answer.ok) throw new Error(`${method} ${path}: ${value.error}: ${value.message}`);
    return value as never;
  };
  const { sessionId } = (await patiently(() =>
    command('POST', '', {
      capabilities: {
        alwaysMatch: {
          'webkitgtk:browserOptions': { binary: miniBrowser(), args: ['--automation'] },
          timeouts: { script: 300_000, pageLoad: 300_000 },
        },
      },
    }),
  )) as { sessionId: string };
  const ask = (method: string, path: string, body?: object) =>
    command(method, `/${sessionId}${path}`, body);
  let isFirst = true;
  return {
    open: async (url) => {
      const handle: string = isFirst
        ? await ask('GET', '/window')
        : ((await ask('POST', '/window/new', { type: 'tab' })) as { handle: string }).handle;
      isFirst = false;
      const opened = tab(handle, ask);
      await opened.open(url);
      return opened;
    },
    close: async () => {
      await ask('DELETE', '').catch(() => undefined);
      await Promise.all([ended(driver), ended(display)]);
    },
  };
}

function tab(
  handle: string,
  ask: (method: string, path: string, body?: object) => Promise<never>,
): Tab {
  return {
    open: async (url) => {
      await ask('POST', '/window', { handle });
      await ask('POST', '/url', { url });
    },
    close: async () => {
      await ask('POST', '/window', { handle });
      await ask('DELETE', '/window');
    },
    run: async (script) => {
      await ask('POST', '/window', { handle });
      return ask('POST', '/execute/sync', {
        script: `return (async () => { ${script} })()`,
        args: [],
      });
    },
    type: async (keys) => {
      await ask('POST', '/window', { handle });
      const found = await ask('POST', '/element', {
        using: 'css selector',
        value: '.terminal textarea',
      });
      await ask('POST', '/execute/sync', {
        script: `document.querySelector('.terminal textarea').focus()`,
        args: [],
      });
      await ask('POST', `/element/${found[ELEMENT]}/value`, { text: keys.replaceAll('\n', ENTER) });
    },
  };
}

/** Debian keeps it below the name of the machine's architecture. */
function miniBrowser(): string {
  const folders = readdirSync(LIBRARIES)
    .filter((name) => name.endsWith('-linux-gnu'))
    .flatMap((name) => readdirSync(join(LIBRARIES, name)).map((below) => join(name, below)));
  const folder = folders.find((path) => /\/webkit2gtk-4[^/]*$/.test(path));
  if (!folder) throw new Error('WebKitGTK is missing: scripts/browsers installs it.');
  return join(LIBRARIES, folder, 'MiniBrowser');
}

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}

/** Starts a program, and resolves with the first that it says. */
function start(
  program: string,
  args: readonly string[],
  env: Record<string, string>,
): Promise<[ChildProcess, string]> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${program} ended with ${code}.`)));
    child.stdout?.once('data', (said) => resolve([child, String(said)]));
  });
}

function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.once('exit', () => resolve());
    child.kill();
  });
}

/** What the driver refuses until it listens. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await act();
    } catch (error) {
      const isDeaf = error instanceof TypeError;
      if (!isDeaf || tries > 300) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
