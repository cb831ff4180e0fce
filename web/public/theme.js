// Runs before anything is painted, so that a chosen theme does not flash in the other one first. A file of its own
// because the content security policy allows no inline script. See src/page/frame/theme.ts for the rest.
try {
  const chosen = localStorage.getItem('kubetab.theme');
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen;
} catch {
  // Storage is closed to this window: the system's theme it is.
}
