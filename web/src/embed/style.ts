/*
 * The style of snippets. Colours are mixed from the text's, so that a snippet is at home on any ground. A constructed
 * style sheet needs no leave of the page's content security policy, as an element or an attribute would.
 *
 * A snippet is as high before something runs as after it. The words of the bar have their height before there are any, which
 * is that of two lines of why something cannot run, and Reset has its place; the output is scrolled in the room that it has.
 */
const CSS = `
:host { display: block; margin: 0 0 1em; font: 14px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif; color-scheme: light; --accent: var(--kubetab-accent, #2f5fd0); --on-accent: #fff; --bad: #b4272f; }
:host([hidden]) { display: none; }
:host([data-dark]) { color-scheme: dark; --accent: var(--kubetab-accent, #8fb0ff); --on-accent: #10151d; --bad: #ff9a95; }
.bar { display: flex; flex-wrap: wrap; align-items: center; gap: 4px; margin: 6px 0; min-height: 32px; }
button, a { display: inline-flex; align-items: center; gap: 6px; height: 32px; padding: 0 10px; border: 0; border-radius: 6px; box-sizing: border-box; background: none; color: inherit; font: inherit; font-weight: 500; text-decoration: none; cursor: pointer; white-space: nowrap; }
button:hover, a:hover { background: color-mix(in srgb, currentColor 10%, transparent); }
button.run { min-width: 84px; justify-content: center; background: var(--accent); color: var(--on-accent); padding: 0 14px 0 11px; }
button.run:hover { filter: brightness(1.08); }
button.run.is-on { background: none; color: inherit; box-shadow: inset 0 0 0 1px color-mix(in srgb, currentColor 40%, transparent); }
button[aria-pressed=true] { box-shadow: inset 0 0 0 1px color-mix(in srgb, currentColor 40%, transparent); }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 1px; }
svg { width: 14px; height: 14px; flex: none; }
.status { flex: 1 1 160px; min-width: 0; height: 32px; margin: 0; padding: 0 6px; font-size: 13px; line-height: 32px; font-variant-numeric: tabular-nums; opacity: .78; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
.status.is-bad { color: var(--bad); opacity: 1; line-height: 16px; align-content: center; overflow-y: auto; white-space: normal; overflow-wrap: anywhere; }
[hidden] { display: none; }
button.reset[hidden] { display: inline-flex; visibility: hidden; }
.below { display: flex; flex-wrap: wrap; gap: 8px; }
.room { flex: 2 1 320px; min-width: 0; min-height: calc(var(--lines, 2) * 20px + 16px); position: relative; }
.output { position: absolute; inset: 0; box-sizing: border-box; margin: 0; padding: 8px 12px; overflow: auto; scrollbar-width: thin; border-radius: 6px; background: color-mix(in srgb, currentColor 5%, transparent); border-left: 3px solid color-mix(in srgb, currentColor 25%, transparent); font: 13px/20px ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; tab-size: 8; }
:host(:is(:not([state]), [state=unknown])) .room .output:empty { background: none; }
:host(:is(:not([state]), [state=unknown])) .room .output:empty::before { content: attr(aria-label); opacity: .6; }
.output.is-bad { border-left-color: var(--bad); }
.output .stderr { color: var(--bad); }
button.more { position: absolute; right: 14px; bottom: 4px; height: 28px; padding: 0 7px; background: color-mix(in srgb, currentColor 12%, Canvas); }
button.more:hover { background: color-mix(in srgb, currentColor 24%, Canvas); }
.more[aria-expanded=true] svg { transform: scaleY(-1); }
.picture { flex: 1 1 300px; min-width: 0; height: 320px; box-sizing: border-box; border: 1px solid color-mix(in srgb, currentColor 20%, transparent); border-radius: 6px; overflow: hidden; display: grid; }
.picture p { margin: auto; padding: 16px; text-align: center; opacity: .7; }
.picture iframe { width: 100%; height: 100%; border: 0; }
@media (max-width: 480px) { button, a { padding: 0 8px; } }
`;

let sheet: CSSStyleSheet | null = null;

export function styled(root: ShadowRoot): ShadowRoot {
  if (!sheet) {
    sheet = new CSSStyleSheet();
    sheet.replaceSync(CSS);
  }
  root.adoptedStyleSheets = [sheet];
  return root;
}
