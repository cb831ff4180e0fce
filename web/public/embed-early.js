// Runs in embed.html before its own code. A file of its own because the content security policy allows no inline script.

{
  const root = document.documentElement;
  const query = new URLSearchParams(location.search);
  root.dataset.embed = '';
  const theme = query.get('theme');
  if (theme === 'light' || theme === 'dark') root.dataset.theme = theme;
  // See src/client/cluster-names.ts: of these clusters the page knows what is in them at first.
  const cluster = query.get('cluster');
  if (/^(shop|custom|broken|system)$/.test(cluster)) root.dataset.cluster = `prepared-${cluster}`;

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

  // The page around this one waits for an answer, and here would be nothing to be seen: as in early.js.
  addEventListener(
    'error',
    ({ target, message }) => {
      let why = message;
      if (target.localName === 'script') {
        const { origin, pathname } = new URL(target.src);
        why = `The script ${pathname} of ${origin} could not be loaded.`;
      } else if (target !== window) return;
      const place = document.getElementById('failed');
      if (!place) return;
      if (parent !== window) parent.postMessage({ type: 'kubetab-failed', why }, '*');
      place.hidden = false;
      place.lastElementChild.textContent = why;
      place.onclick = (event) => {
        if (event.target.localName !== 'a') return;
        event.preventDefault();
        location.reload();
      };
    },
    true,
  );
}
