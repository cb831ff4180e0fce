export function make(name: string, className = ''): HTMLElement {
  const element = document.createElement(name);
  if (className) element.className = className;
  return element;
}

export function button(className: string, onClick: () => void, text = ''): HTMLButtonElement {
  const element = make('button', className) as HTMLButtonElement;
  element.type = 'button';
  element.textContent = text;
  element.addEventListener('click', onClick);
  return element;
}

export function icon(path: string): SVGElement {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  svg.setAttribute('viewBox', '0 0 20 20');
  svg.setAttribute('fill', 'currentColor');
  svg.setAttribute('aria-hidden', 'true');
  const shape = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  shape.setAttribute('d', path);
  svg.append(shape);
  return svg;
}

/** The words of an attribute that is a list. */
export function listOf(element: Element, attribute: string): string[] {
  return (element.getAttribute(attribute) ?? '').split(/\s+/).filter(Boolean);
}
