// Runs in embed.html before its own code. A file of its own because the content security policy allows no inline script.

{
  const root = document.documentElement;
  const query = new URLSearchParams(location.search);
  root.dataset.embed = '';
  const theme = query.get('theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  // See src/client/cluster-names.ts: of these clusters the page knows what is in them at first.
  const cluster = query.get('cluster');
  if (/^(shop|custom|broken)$/.test(cluster)) root.dataset.cluster = `prepared-${cluster}`;

  // An embed keeps nothing, and sees nothing of what a visitor of this site keeps: who frames it may be anybody. Browsers
  // refuse storage to a frame with the attribute sandbox, and others give it a part of its own or not, as they see fit.
  // Here all of them refuse.
  const refuse = (from, name, get) => {
    try {
      Object.defineProperty(from, name, { get, configurable: true });
    } catch {
      // It was not there to be had.
    }
  };
  for (const name of ['localStorage', 'sessionStorage', 'indexedDB', 'caches']) {
    refuse(window, name, () => {
      throw new DOMException('An embedded page keeps nothing.', 'SecurityError');
    });
  }
  for (const name of ['serviceWorker', 'locks', 'storage'])
    refuse(navigator, name, () => undefined);
  for (const name of ['SharedWorker', 'BroadcastChannel']) refuse(window, name, () => undefined);

  // The page around this one waits for an answer, and here would be nothing to be seen.
  addEventListener(
    'error',
    ({ target }) => {
      if (!(target instanceof HTMLScriptElement)) return;
      const { origin, pathname } = new URL(target.src);
      const why = `The script ${pathname} of ${origin} could not be loaded.`;
      if (parent !== window) parent.postMessage({ type: 'kubetab-failed', why }, '*');
      const line = document.createElement('p');
      line.setAttribute('role', 'alert');
      line.textContent = why;
      document.body.append(line);
    },
    true,
  );
}
