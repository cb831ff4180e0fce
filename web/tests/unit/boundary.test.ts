import { type ComponentChild, h, options, render } from 'preact';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Boundary } from '../../src/page/frame/Boundary';
import { words } from '../../src/page/words';

/** A node with as much of a document's nodes as preact asks for. */
class FakeNode {
  readonly childNodes: FakeNode[] = [];
  readonly attributes = new Map<string, string>();
  readonly #listeners = new Map<string, (event: object) => void>();
  parentNode: FakeNode | null = null;

  constructor(
    readonly localName: string,
    public data = '',
  ) {}

  get firstChild(): FakeNode | null {
    return this.childNodes[0] ?? null;
  }

  get nextSibling(): FakeNode | null {
    const all = this.parentNode?.childNodes ?? [];
    return all[all.indexOf(this) + 1] ?? null;
  }

  get textContent(): string {
    return this.data + this.childNodes.map((node) => node.textContent).join('');
  }

  insertBefore(node: FakeNode, next: FakeNode | null): void {
    node.remove();
    this.childNodes.splice(next ? this.childNodes.indexOf(next) : this.childNodes.length, 0, node);
    node.parentNode = this;
  }

  remove(): void {
    const all = this.parentNode?.childNodes;
    all?.splice(all.indexOf(this), 1);
    this.parentNode = null;
  }

  contains(node: FakeNode | null): boolean {
    return node === this || (node !== null && this.contains(node.parentNode));
  }

  setAttribute(name: string, value: string): void {
    this.attributes.set(name, value);
  }

  removeAttribute(name: string): void {
    this.attributes.delete(name);
  }

  addEventListener(type: string, listener: (event: object) => void): void {
    this.#listeners.set(type, listener);
  }

  click(): void {
    this.#listeners.get('click')?.call(this, { type: 'click' });
  }

  /** All elements of a name, in the order of the document. */
  all(name: string): FakeNode[] {
    const inside = this.childNodes.flatMap((node) => node.all(name));
    return this.localName === name ? [this, ...inside] : inside;
  }
}

let root: FakeNode;
let logged: unknown[];
/** What preact puts off until the end of the turn. */
let later: (() => void)[];

beforeEach(() => {
  vi.stubGlobal('document', {
    createElementNS: (_: string, name: string) => new FakeNode(name),
    createTextNode: (data: string) => new FakeNode('#text', data),
  });
  later = [];
  options.debounceRendering = (redraw) => void later.push(redraw);
  root = new FakeNode('body');
  logged = [];
  vi.spyOn(console, 'error').mockImplementation((error: unknown) => void logged.push(error));
});

afterEach(() => {
  draw(null);
  delete options.debounceRendering;
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

function draw(what: ComponentChild): void {
  render(what, root as unknown as Element);
  endTurn();
}

function endTurn(): void {
  for (let redraw = later.shift(); redraw; redraw = later.shift()) redraw();
}

function press(): void {
  root.all('button')[0]?.click();
  endTurn();
}

const alerts = () => root.all('div').filter(({ attributes }) => attributes.get('role') === 'alert');

/** What `Pane` throws when it is drawn; undefined for nothing. */
let defect: unknown;
const Pane = () => {
  if (defect !== undefined) throw defect;
  return h('section', null, 'the pane');
};
/** Two panes side by side, as the page has them: the second has no defect. */
const page = () =>
  h('main', null, h(Boundary, null, h(Pane, null)), h(Boundary, null, h('aside', null, 'beside')));

test('a pane without a defect is drawn as it is', () => {
  defect = undefined;
  draw(page());
  expect(root.textContent).toBe('the panebeside');
  expect(alerts()).toEqual([]);
  expect(logged).toEqual([]);
});

test('a pane that throws when it is first drawn is replaced by a sentence, and the pane beside it stays', () => {
  defect = new TypeError('nothing to draw');
  draw(page());
  expect(alerts()).toHaveLength(1);
  expect(alerts()[0]?.all('h2')[0]?.textContent).toBe(words.defect.what);
  expect(alerts()[0]?.all('p')[0]?.textContent).toBe('TypeError: nothing to draw');
  expect(root.all('section')).toEqual([]);
  expect(root.all('aside')[0]?.textContent).toBe('beside');
  expect(logged).toEqual([defect]);
});

test('a pane that throws later leaves nothing of itself', () => {
  defect = undefined;
  draw(page());
  const beside = root.all('aside')[0];
  defect = new Error('later');
  draw(page());
  expect(root.all('section')).toEqual([]);
  expect(alerts()).toHaveLength(1);
  expect(root.all('aside')[0]).toBe(beside);
});

test('the button draws the pane once more', () => {
  defect = new Error('still there');
  draw(page());
  press();
  expect(alerts()[0]?.all('p')[0]?.textContent).toBe('Error: still there');
  expect(logged).toEqual([defect, defect]);

  defect = undefined;
  press();
  expect(alerts()).toEqual([]);
  expect(root.textContent).toBe('the panebeside');
});

test('what is thrown may be nothing', () => {
  defect = null;
  draw(page());
  expect(alerts()[0]?.all('p')[0]?.textContent).toBe('null');
});

test('without a boundary the error leaves render: these tests can fail', () => {
  defect = new Error('unguarded');
  expect(() => draw(h('main', null, h(Pane, null)))).toThrow('unguarded');
});
