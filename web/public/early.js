// Runs before the page's own code, which is a fifth of a second away. A file of its own because the content security
// policy allows no inline script.

// A chosen theme shall not flash in the other one first. See src/page/frame/theme.ts for the rest.
try {
  const chosen = localStorage.getItem('kubetab.theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is closed to this window: the system's theme it is.
}

// The engine has the longest way to go. The page finds the worker by its address and name: see src/client/home.ts, which
// also hears of what is wrong with it.
if (typeof SharedWorker === 'function') {
  new SharedWorker('__WORKER__', { type: 'module', name: 'kubetab', extendedLifetime: true });
}
