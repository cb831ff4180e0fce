/** What is to be looked at again when the page may have another ground. */
const grounds = new Set<() => void>();

export function onGround(paint: () => void): void {
  paint();
  grounds.add(paint);
}

/** To be called once. */
export function followGround(): void {
  const look = () =>
    requestAnimationFrame(() => {
      for (const paint of grounds) paint();
    });
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', look);
  const attributes = {
    attributes: true,
    attributeFilter: ['class', 'data-theme', 'style', 'data-bs-theme'],
  };
  const observer = new MutationObserver(look);
  observer.observe(document.documentElement, attributes);
  observer.observe(document.body, attributes);
}

/** Whether what is behind an element is dark. Sites tell it in many ways, and all of them paint a ground. */
export function isDark(element: Element): boolean {
  for (let at: Element | null = element; at; at = at.parentElement) {
    const [r = 0, g = 0, b = 0, a = 1] =
      getComputedStyle(at)
        .backgroundColor.match(/[\d.]+/g)
        ?.map(Number) ?? [];
    if (a > 0.5) return 0.299 * r + 0.587 * g + 0.114 * b < 128;
  }
  return (
    matchMedia('(prefers-color-scheme: dark)').matches &&
    /dark/.test(getComputedStyle(document.documentElement).colorScheme)
  );
}
