import type { ComponentChildren, VNode } from 'preact';
import { h } from 'preact';

/**
 * The HTML of a lesson's text, as elements of the page. It comes from our own build, which refuses HTML in Markdown;
 * still, nothing is given to the page as HTML: a document without scripts or network parses it, and the elements on a
 * short list are made anew, with the few attributes that are named here.
 */
export function elementsOf(html: string, base: URL): ComponentChildren {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  return childrenOf(body, base);
}

const PLAIN = new Set(
  'p ul ol li em strong code pre del kbd sub sup br hr h3 h4 blockquote table thead tbody tr th td dl dt dd'.split(
    ' ',
  ),
);
/** What holds no text for a reader. */
const DROPPED = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'embed']);

function childrenOf(node: Node, base: URL): ComponentChildren[] {
  return [...node.childNodes].map((child) => elementOf(child, base));
}

function elementOf(node: Node, base: URL): ComponentChildren {
  if (node.nodeType === Node.TEXT_NODE) return node.nodeValue;
  if (!(node instanceof Element)) return null;
  const name = node.localName;
  if (DROPPED.has(name)) return null;
  const children = childrenOf(node, base);
  if (name === 'a') return link(node, children);
  if (name === 'img') return image(node, base);
  // What is code is said the same in every language.
  if (name === 'code' || name === 'pre') return h(name, { translate: false }, children);
  return PLAIN.has(name) ? h(name, null, children) : children;
}

function link(node: Element, children: ComponentChildren): ComponentChildren {
  const address = node.getAttribute('href') ?? '';
  if (address.startsWith('#')) return <a href={address}>{children}</a>;
  if (!/^https?:\/\//i.test(address)) return children;
  return (
    <a href={address} target="_blank" rel="noopener noreferrer">
      {children}
    </a>
  );
}

/** A picture lies beside the lesson's text: a name, and nothing that leads elsewhere. */
function image(node: Element, base: URL): VNode | null {
  const name = node.getAttribute('src') ?? '';
  if (!/^[a-z0-9][a-z0-9._-]*\.(svg|png)$/i.test(name)) return null;
  return <img src={new URL(name, base).href} alt={node.getAttribute('alt') ?? ''} loading="lazy" />;
}
