/** How often it is looked whether a page has been taken over, in ms. */
const LOOK_EVERY = 50;

/**
 * Resolves when a page may be changed. Some generators draw a page on the server, and have a script that takes the nodes of
 * the document for its own, by their number and order: a node that somebody has added by then costs the page another one.
 *
 * @param delay ms to wait before, for generators that nobody here knows
 */
export async function untilTakenOver(delay: number): Promise<void> {
  if (delay > 0) await later(delay);
  while (isDrawnAlone()) await later(LOOK_EVERY);
}

const later = (ms: number) => new Promise((over) => setTimeout(over, ms));

/** Whether the page is one of such a generator, and is as the server has drawn it. */
function isDrawnAlone(): boolean {
  // Docusaurus says so itself.
  if (document.documentElement.dataset.hasHydrated === 'false') return true;
  // VitePress and Nuxt: Vue marks the element that it has taken over.
  const isOfVue = '__VP_HASH_MAP__' in window || '__NUXT__' in window;
  const root = isOfVue && document.querySelector('#app, #__nuxt');
  return root instanceof Element && !('__vue_app__' in root);
}
