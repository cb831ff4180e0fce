import { type ComponentChildren, render } from 'preact';
import { Boundary } from './Boundary';

/** Draws the page, in the place of what index.html has for a page that does not start. */
export function draw(page: ComponentChildren): void {
  const root = document.getElementById('page');
  if (!root) return;
  root.replaceChildren();
  render(<Boundary>{page}</Boundary>, root);
}
