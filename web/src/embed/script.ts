/*
 * embed.js: makes blocks of code in somebody's page run. One element is needed, from any origin:
 *
 *   <script src="https://.../embed.js" data-selector="pre code.language-shell"></script>
 *
 * Nothing else is fetched before something is run, or `data-eager` is there. docs/embed.md has the attributes.
 */
import { frameOf } from './block';
import { PageEngine } from './engine';
import { followGround } from './ground';
import { Snippet, useEngine } from './snippet';
import { untilTakenOver } from './takeover';

const script = (document.currentScript ??
  document.querySelector('script[src*="embed.js"]')) as HTMLScriptElement | null;

function begin({ src, dataset }: HTMLScriptElement): void {
  const { selector, setup = '', bundle = '', session = '', eager, outputSelector } = dataset;
  const engine = new PageEngine({ site: new URL('./', src), setup, bundle, session });
  useEngine(engine);
  customElements.define('kubetab-snippet', Snippet);
  const start = () => {
    followGround();
    if (selector) {
      const look = () => makeSnippets(selector, outputSelector ?? OUTPUTS, dataset);
      void untilTakenOver(Number(dataset.initDelay) || 0).then(() => followPage(look));
    }
    if (eager !== undefined) void engine.get().catch(() => undefined);
  };
  if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', start);
  else start();
}

/** Sites that are one page change it while it is there. */
function followPage(look: () => void): void {
  let isDue = false;
  look();
  new MutationObserver(() => {
    if (isDue) return;
    isDue = true;
    requestAnimationFrame(() => {
      isDue = false;
      look();
    });
  }).observe(document.body, { childList: true, subtree: true });
}

/** Blocks that show what is printed: they have no language, or one that says so. */
const OUTPUTS =
  'code:not([class*="language-"]):not([data-lang]), .language-console, .language-text, .language-none, .language-output';

/** A snippet behind every block that the selector finds. What the page says that it prints may be the next block. */
function makeSnippets(selector: string, outputs: string, { picture }: DOMStringMap): void {
  for (const found of document.querySelectorAll(selector)) {
    const frame = frameOf(found);
    if (
      frame.parentElement?.closest('kubetab-snippet') ||
      frame.nextElementSibling instanceof Snippet
    )
      continue;
    const snippet = document.createElement('kubetab-snippet');
    const expected = expectedBehind(frame, selector, outputs);
    if (expected) {
      expected.id ||= `kubetab-output-${++made}`;
      snippet.setAttribute('output', `#${CSS.escape(expected.id)}`);
    }
    if (picture !== undefined) snippet.setAttribute('picture', '');
    frame.after(snippet);
  }
}

let made = 0;

/** The next block, with one paragraph between at most: "The output is similar to this". */
function expectedBehind(frame: Element, selector: string, outputs: string): Element | null {
  let next = frame.nextElementSibling;
  if (next?.matches('p')) next = next.nextElementSibling;
  const code =
    next?.querySelector('pre code') ??
    next?.querySelector('pre') ??
    (next?.matches('pre') ? next : null);
  if (!next || !code || code.matches(selector) || next.querySelector(selector)) return null;
  return code.matches(outputs) || code.closest('pre')?.matches(outputs) || next.matches(outputs)
    ? next
    : null;
}

// At the end, after the constants above.
if (script && !customElements.get('kubetab-snippet')) begin(script);
