import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type BrowserContext, chromium } from 'playwright-core';
import { CHROMIUM, FLAGS } from '../../build/chromium.mjs';
import { PATIENCE } from './browser';
import type { Site } from './site';

/**
 * A site of documentation: another one than the site of Kubetab, which is at 127.0.0.1.
 *
 * @param pages HTML and other files by path, such as `/`
 * @param headers sent with each of them
 */
export async function docsSite(
  pages: Readonly<Record<string, string | Uint8Array>>,
  headers: Readonly<Record<string, string>> = {},
): Promise<Site> {
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://x');
    const page = pages[pathname];
    if (page === undefined) {
      response.writeHead(404).end();
      return;
    }
    const type = /\.(css|js)$/.exec(pathname)?.[1] ?? 'html';
    response.setHeader(
      'Content-Type',
      `text/${type === 'js' ? 'javascript' : type}; charset=utf-8`,
    );
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    response.end(page);
  });
  await new Promise<void>((listening) => server.listen(0, 'localhost', listening));
  return {
    url: `http://localhost:${(server.address() as AddressInfo).port}/`,
    close: () =>
      new Promise((closed) => {
        server.close(() => closed());
        server.closeAllConnections();
      }),
  };
}

/** A browser whose user has forbidden third parties to store anything. The profile is gone when it is closed. */
export async function withoutThirdParties(): Promise<BrowserContext> {
  const profile = mkdtempSync(join(tmpdir(), 'kubetab-docs-'));
  mkdirSync(join(profile, 'Default'));
  const preferences = { profile: { cookie_controls_mode: 1, block_third_party_cookies: true } };
  writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: CHROMIUM,
    args: [...FLAGS],
  });
  context.setDefaultTimeout(PATIENCE);
  // A moment later the browser may still be writing there.
  context.once('close', () => rmSync(profile, { recursive: true, force: true, maxRetries: 20 }));
  return context;
}
