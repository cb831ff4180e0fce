/** xterm.js, in a chunk of its own: the page is there before it. */
import { FitAddon } from '@xterm/addon-fit';
import { type ITheme, Terminal as Xterm } from '@xterm/xterm';
import '@xterm/xterm/css/xterm.css';
import { MESSAGE_OSC, parseMessage, type ShellMessage } from './messages';

export interface ScreenEvents {
  onKeys(keys: string): void;
  onResize(size: { columns: number; rows: number }): void;
  onMessage(message: ShellMessage): void;
}

export interface Screen {
  readonly size: { columns: number; rows: number };
  write(bytes: Uint8Array | string, isReplay?: boolean): void;
  /** Text of ours, which is no command's output. */
  say(text: string): void;
  type(keys: string): void;
  reset(): void;
  focus(): void;
  restyle(): void;
  /** Names it for screen readers. */
  rename(label: string): void;
  destroy(): void;
}

export function createScreen(host: HTMLElement, events: ScreenEvents): Screen {
  const term = new Xterm({
    allowProposedApi: false,
    convertEol: false,
    cursorBlink: !matchMedia('(prefers-reduced-motion: reduce)').matches,
    fontFamily: property('--mono'),
    fontSize: 13,
    lineHeight: 1.3,
    linkHandler: null, // no sequence opens a page
    minimumContrastRatio: 4.5,
    scrollback: 5000,
    theme: colours(),
  });
  const fit = new FitAddon();
  term.loadAddon(fit);
  let replays = 0;
  /** By their tokens: what was asked for in a replay, and is not over by its end. */
  const waiting = new Map<string, ShellMessage>();
  term.parser.registerOscHandler(MESSAGE_OSC, (text) => {
    const message = parseMessage(text);
    if (!message) return true;
    if (replays === 0) events.onMessage(message);
    else if (message.kind === 'edit' || message.kind === 'download')
      waiting.set(message.token, message);
    else if (message.kind === 'over') waiting.delete(message.token);
    return true;
  });
  // Nothing that is printed may rename the page, open links or fill the clipboard.
  for (const number of [0, 1, 2, 7, 8, 9, 50, 52, 133, 633, 777, 1337]) {
    term.parser.registerOscHandler(number, () => true);
  }
  term.attachCustomKeyEventHandler((event) => {
    if (event.type !== 'keydown') return true;
    if (event.key === 'Tab' && event.shiftKey) return false; // the way out for the keyboard
    const command = event.ctrlKey || event.metaKey;
    if (command && event.key.toLowerCase() === 'c' && term.hasSelection()) return false; // copies
    if (command && event.key.toLowerCase() === 'v') return false; // pastes
    return !(command && event.key.toLowerCase() === 'k' && event.metaKey);
  });
  host.addEventListener('paste', (event) => pasteTabs(term, event), { capture: true });
  term.onData(events.onKeys);
  term.onResize(({ cols, rows }) => events.onResize({ columns: cols, rows }));
  withStyleSheets(() => term.open(host));
  const observer = new ResizeObserver(() => {
    if (host.clientWidth > 0 && host.clientHeight > 0) fit.fit();
  });
  observer.observe(host);
  fit.fit();
  return {
    get size() {
      return { columns: term.cols, rows: term.rows };
    },
    write(bytes, isReplay) {
      if (!isReplay) return term.write(bytes);
      replays += 1;
      term.write(bytes, () => {
        replays -= 1;
        if (replays > 0) return;
        const asked = [...waiting.values()];
        waiting.clear();
        for (const message of asked) events.onMessage(message);
      });
    },
    say: (text) => term.write(`\r\n\x1b[90m${text}\x1b[39m\r\n`),
    type: (keys) => term.input(keys),
    reset: () => term.write('\x1bc'), // in its turn: what was written before may not have been read yet
    focus: () => term.focus(),
    restyle() {
      term.options.theme = colours();
    },
    rename(label) {
      term.textarea?.setAttribute('aria-label', label);
    },
    destroy() {
      observer.disconnect();
      term.dispose();
    },
  };
}

/** Pastes text with tabs so that they are text, and not the key that completes: ^V takes what is special from the next character. */
function pasteTabs(term: Xterm, event: ClipboardEvent): void {
  const text = event.clipboardData?.getData('text/plain');
  if (!text?.includes('\t')) return; // xterm.js pastes it
  event.preventDefault();
  event.stopPropagation();
  term.paste(text.replaceAll('\t', '\x16\t'));
}

function property(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/** The page's own colours, so that a red word is the red of the page. */
function colours(): ITheme {
  // A custom property is text, with the colours of both themes in it. An element's colour is one of them.
  const probe = document.body.appendChild(document.createElement('i'));
  const colour = (name: string) => {
    probe.style.color = `var(${name})`;
    return getComputedStyle(probe).color;
  };
  const [text, faint, muted] = [colour('--text'), colour('--faint'), colour('--muted')];
  const [red, green, yellow] = [colour('--bad'), colour('--good'), colour('--warn')];
  const [blue, magenta, cyan] = [colour('--accent'), colour('--watch'), colour('--get')];
  const theme: ITheme = {
    background: colour('--ground'),
    foreground: text,
    cursor: text,
    cursorAccent: colour('--ground'),
    selectionBackground: colour('--selection'),
    black: faint,
    red,
    green,
    yellow,
    blue,
    magenta,
    cyan,
    white: text,
    brightBlack: muted,
    brightRed: red,
    brightGreen: green,
    brightYellow: yellow,
    brightBlue: blue,
    brightMagenta: magenta,
    brightCyan: cyan,
    brightWhite: text,
  };
  probe.remove();
  return theme;
}

/**
 * Runs `make` in a document that makes no `style` elements, which the content security policy forbids: a replacement
 * for the element puts its text into a constructed style sheet.
 */
function withStyleSheets(make: () => void): void {
  document.createElement = (name: string, options?: ElementCreationOptions) =>
    name === 'style'
      ? styleSheet()
      : Document.prototype.createElement.call(document, name, options);
  try {
    make();
  } finally {
    // What is left is the prototype's.
    delete (document as Partial<Document>).createElement;
  }
}

function styleSheet(): HTMLElement {
  const element = Document.prototype.createElement.call(document, 'span');
  element.hidden = true;
  const sheet = new CSSStyleSheet();
  document.adoptedStyleSheets.push(sheet);
  let text = '';
  const content: PropertyDescriptor = {
    get: () => text,
    set: (css: string) => {
      text = css;
      sheet.replaceSync(css);
    },
  };
  Object.defineProperties(element, {
    textContent: content,
    innerText: content,
    sheet: { value: sheet },
  });
  const remove = element.remove.bind(element);
  element.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((other) => other !== sheet);
    remove();
  };
  return element;
}
