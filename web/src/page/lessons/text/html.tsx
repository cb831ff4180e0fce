import type { ComponentChildren } from 'preact';
import { h } from 'preact';
import { whole } from '../../parts/whole';

/**
 * The HTML of a lesson's text, as elements of the page. It comes from our own build, which refuses HTML in Markdown;
 * still, nothing is given to the page as HTML: a document without scripts or network parses it, and the elements on a
 * short list are made anew, with the few attributes that are named here.
 */
export function elementsOf(html: string, named: Named = () => null): ComponentChildren {
  const { body } = new DOMParser().parseFromString(html, 'text/html');
  return childrenOf(body, named);
}

/** What stands for code that names something, in place of its text; null for code that does not. */
export type Named = (name: string) => ComponentChildren;

const PLAIN = new Set(
  'p ul ol li em strong code pre del kbd sub sup br hr h3 h4 blockquote table thead tbody tr th td dl dt dd'.split(
    ' ',
  ),
);
/** What holds no text for a reader. */
const DROPPED = new Set(['script', 'style', 'template', 'noscript', 'iframe', 'object', 'embed']);

/** What a picture consists of; tutorials/load/picture.go has the same lists. */
const DRAWN = new Set('svg g path line rect circle ellipse polyline polygon text tspan'.split(' '));
const DRAWN_WITH = new Set(
  (
    'viewBox d x y x1 y1 x2 y2 dx dy r rx ry cx cy width height points transform text-anchor stroke-width stroke-dasharray ' +
    'role aria-label'
  ).split(' '),
);
/** Either no colour or the one of an ink. */
const PAINTS = new Set(['fill', 'stroke']);
/** Colours of the theme, in lesson-text.css. */
const INKS = /^ink-[a-z0-9-]+( ink-[a-z0-9-]+)*$/;

function childrenOf(node: Node, named: Named): ComponentChildren[] {
  return [...node.childNodes].map((child) => elementOf(child, named));
}

function elementOf(node: Node, named: Named): ComponentChildren {
  if (node.nodeType === Node.TEXT_NODE) return node.nodeValue;
  if (!(node instanceof Element)) return null;
  const name = node.localName;
  if (node instanceof SVGElement) return drawing(node);
  if (DROPPED.has(name)) return null;
  const children = childrenOf(node, named);
  if (name === 'a') return link(node, children);
  // What is code is said the same in every language.
  if (name === 'code' || name === 'pre') {
    const isInline = name === 'code' && node.parentElement?.localName !== 'pre';
    const content = isInline && !node.firstElementChild ? whole(node.textContent) : children;
    return named(node.textContent) ?? h(name, { translate: false }, content);
  }
  return PLAIN.has(name) ? h(name, null, children) : children;
}

/** A picture is part of the page, so that it has the colours of the theme, and comes with the text. */
function drawing(element: Element): ComponentChildren {
  const name = element.localName;
  if (!DRAWN.has(name)) return null;
  const given: Record<string, string> = {};
  for (const { name, value } of element.attributes) {
    const isPlain = value === 'none' || value === 'currentColor';
    if (DRAWN_WITH.has(name) || (PAINTS.has(name) && isPlain)) given[name] = value;
    if (name === 'class' && INKS.test(value)) given.class = value;
  }
  const children = [...element.childNodes].map((child) =>
    child instanceof Element ? drawing(child) : child.nodeValue,
  );
  return h(name, given, children);
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
