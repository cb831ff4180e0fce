// bin/kubetab with the page, for measuring.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';

/**
 * Starts it on free ports of loopback, in the folder of the project.
 *
 * @returns {Promise<{url: string, close(): void}>} url: of the page
 * @throws {Error} when it ends instead
 */
export async function serveNative() {
  const server = spawn(
    'bin/kubetab',
    ['serve', '--listen', '127.0.0.1:0', '--http', '127.0.0.1:0', '--kubeconfig='],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const url = await new Promise((resolve, reject) => {
    createInterface(server.stdout).on('line', (line) => {
      const found = line.match(/page\s+(http:\S+)/);
      if (found) resolve(`${found[1].replace(/\/$/, '')}/`);
    });
    server.once('error', reject);
    server.once('exit', (code) => reject(new Error(`bin/kubetab ended with code ${code}`)));
  });
  return { url, close: () => server.kill() };
}
