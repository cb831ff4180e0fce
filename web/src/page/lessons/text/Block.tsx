import './lesson-code.css';
import './lesson-text.css';
import { useMemo } from 'preact/hooks';
import type { Lesson } from '../../../answers/lessons';
import type { Block } from '../../../answers/load';
import { replaceDraft } from '../../console/draft';
import { focusTerminal } from '../../frame/focus-terminal';
import { go } from '../../frame/route';
import { showEditor } from '../../frame/show-editor';
import { CopyButton } from '../../parts/Copy';
import { runInTerminal, typeIntoTerminal } from '../../terminal/shell';
import { requestOf } from '../course/exchange';
import { lessonHere } from '../course/home';
import { lessonOf } from '../course/load';
import { seenOf } from '../course/seen';
import { words } from '../words';
import { Exchanges } from './Exchanges';
import { elementsOf } from './html';
import { TableBlock } from './TableBlock';

const CLEAR_LINE = '\x15';

/** A piece of a lesson's text: prose, or code with what can be done with it. */
export function BlockView({ block }: { block: Block }) {
  if (block.html !== undefined) return <Prose html={block.html} />;
  if (block.kind === 'table') return <TableBlock block={block} />;
  return <CodeBlock block={block} />;
}

export function Prose({ html }: { html: string }) {
  const loaded = lessonOf(lessonHere.value);
  const brought = loaded.state === 'loaded' ? loaded.value.files : undefined;
  const elements = useMemo(
    () => elementsOf(html, (name) => nameOf(name, brought)),
    [html, brought],
  );
  return <div class="prose">{elements}</div>;
}

/** What a lesson has brought is opened by its name. */
function nameOf(name: string, brought: Lesson['files']) {
  const text = brought?.[name];
  if (text === undefined) return null;
  return (
    <button
      type="button"
      class="file-name"
      title={words.block.edit(name)}
      onClick={() => void openBrought(name, text)}
    >
      <code translate={false}>{name}</code>
    </button>
  );
}

async function openBrought(name: string, text: string): Promise<void> {
  const { openFile, putMissingFiles } = await import('../course/files');
  await putMissingFiles({ [name]: text });
  openFile(name);
  showEditor();
}

function CodeBlock({ block }: { block: Block }) {
  const { language = '', text = '', file, actions = [] } = block;
  const isRequest = language === 'http';
  const isCommand = actions.includes('run') || (actions.includes('put') && !isRequest);
  const table = language === 'text' && /\S {2,}/.test(text);
  const caused = isCommand || isRequest ? seenOf(text, language) : [];
  return (
    <div class="code-block">
      <div class={`code-text ${table ? '' : 'is-folded'}`}>
        <pre
          translate={false}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
          tabIndex={0}
        >
          <code>{table ? text.trimEnd() : lines(text.trimEnd())}</code>
        </pre>
        {!table && (
          <CopyButton
            label={words.block.copy}
            title={words.block.copy}
            text={() => text.trimEnd()}
          />
        )}
      </div>
      <div class="code-actions">
        {actions.includes('run') && (
          <button
            type="button"
            class="button small primary"
            title={words.block.runTitle}
            onClick={() => runHere(text)}
          >
            {words.block.run}
          </button>
        )}
        {isCommand && (
          <button type="button" class="link" onClick={() => putHere(text)}>
            {words.block.put}
          </button>
        )}
        {isRequest && actions.includes('put') && (
          <button type="button" class="link" onClick={() => toConsole(text)}>
            {words.block.console}
          </button>
        )}
        {file && (
          <button type="button" class="link" onClick={() => void openFile(file, text)}>
            {words.block.open(file)}
          </button>
        )}
      </div>
      {caused.length > 0 && <Exchanges records={caused} />}
    </div>
  );
}

/** A word that is longer may be divided, in characters. */
const LONG = 40;

/**
 * A long line goes on below, further in than it begins. A browser would divide `--dry-run` at each of its hyphens, too.
 * A table would be hard to read like this, so it scrolls.
 */
const lines = (text: string) =>
  text.split(/(?<=\n)/).map((line, i) => (
    <span key={i} class="code-line" style={{ '--indent': `${line.search(/\S|$/)}ch` }}>
      {line.split(/(\s+)/).map((word, at) =>
        word.length < LONG && word.includes('-') ? (
          <span key={at} class="code-word">
            {word}
          </span>
        ) : (
          word
        ),
      )}
    </span>
  ));

/** Runs a script in the terminal, which on a phone is a screen of its own. */
export function runHere(text: string): void {
  focusTerminal();
  void runInTerminal(text.trimEnd());
}

function putHere(text: string): void {
  typeIntoTerminal(CLEAR_LINE + text.trimEnd().replaceAll('\n', '\r'));
  focusTerminal();
}

function toConsole(text: string): void {
  replaceDraft(requestOf(text));
  go('console');
}

async function openFile(name: string, text: string): Promise<void> {
  const { openText } = await import('../course/files');
  await openText(name, `${text.trimEnd()}\n`);
  showEditor();
}
