import './files.css';
import { useSignal } from '@preact/signals';
import { useLayoutEffect } from 'preact/hooks';
import { followKinds } from '../../cluster/kinds';
import { Icon } from '../../frame/icons';
import { lazily } from '../../frame/Lazy';
import { PaneBar } from '../../frame/PaneBar';
import { go, LIST } from '../../frame/route';
import { pendingEdits } from '../../terminal/shell';
import { applyFile, checkFile, deleteFile, diffFile, formatFile } from '../apply/session';
import { isScript } from '../language/language-of';
import { words } from '../words';
import { addFiles } from '../workspace/add-files';
import { newFile, openFiles } from '../workspace/open';
import {
  active,
  activePath,
  closeFile,
  files,
  opened,
  openFile,
  openPaths,
  type WorkspaceFile,
} from '../workspace/workspace';
import { FileText } from './FileText';
import { OutcomePanel } from './OutcomePanel';
import { PendingEdit } from './PendingEdit';

const ScriptButtons = lazily(() =>
  import('../../script/ScriptButtons').then(({ ScriptButtons }) => ScriptButtons),
);
const ScriptOutput = lazily(() =>
  import('../../script/ScriptOutput').then(({ ScriptOutput }) => ScriptOutput),
);

/** Files of the workspace in tabs, with what can be done with them in the cluster. */
export function EditorPane() {
  useLayoutEffect(() => {
    openFiles();
    followKinds();
  }, []);
  const over = useSignal(false);
  const file = active.value;
  const waiting = pendingEdits.value[0];
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: files can be added with a button in the list, too
    <div
      class={`editor-pane ${over.value ? 'is-over' : ''}`}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || event.defaultPrevented)
          return;
        event.preventDefault();
        if (file && isScript(file.path)) void runScript(file);
        else void applyFile();
      }}
      onDragOver={(event) => {
        if (!event.dataTransfer?.types.includes('Files')) return;
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={() => {
        over.value = false;
      }}
      onDrop={(event) => {
        over.value = false;
        if (!event.dataTransfer?.files.length) return;
        event.preventDefault();
        void addFiles(event.dataTransfer.files);
      }}
    >
      <PaneBar pane="editor">
        <FileTabs />
      </PaneBar>
      {waiting ? (
        <PendingEdit key={waiting.token} edit={waiting} />
      ) : file ? (
        <>
          {isScript(file.path) ? (
            <div class="toolbar file-buttons">
              <ScriptButtons />
            </div>
          ) : (
            <Buttons />
          )}
          <FileText key={file.path} path={file.path} text={file.text} />
          {isScript(file.path) ? <ScriptOutput key={file.path} /> : <OutcomePanel />}
        </>
      ) : (
        opened.value && <p class="empty">{words.none}</p>
      )}
    </div>
  );
}

async function runScript({ path, text }: WorkspaceFile): Promise<void> {
  const { runFile } = await import('../../script/runs');
  runFile(path, text);
}

function FileTabs() {
  return (
    <div class="file-tabs">
      <FileMenu />
      <ul class="file-tab-row" aria-label={words.openFiles}>
        {openPaths.value.map((path) => {
          const chosen = path === activePath.value;
          return (
            <li key={path} class={`file-tab ${chosen ? 'is-chosen' : ''}`}>
              <button
                type="button"
                aria-current={chosen}
                title={path}
                translate={false}
                onClick={() => openFile(path)}
                onAuxClick={(event) => {
                  if (event.button === 1) closeFile(path);
                }}
              >
                {path.split('/').pop()}
              </button>
              <button
                type="button"
                class="file-close"
                aria-label={words.close(path)}
                title={words.close(path)}
                onClick={() => closeFile(path)}
              >
                <Icon name="close" size={11} />
              </button>
            </li>
          );
        })}
      </ul>
      <button
        type="button"
        class="icon-button"
        aria-label={words.newFile}
        title={words.newFile}
        onClick={newFile}
      >
        <Icon name="plus" size={15} />
      </button>
    </div>
  );
}

function Buttons() {
  return (
    <div class="toolbar file-buttons">
      <button
        type="button"
        class="button small primary"
        title={words.applyTitle}
        onClick={() => void applyFile()}
      >
        {words.apply}
      </button>
      <button
        type="button"
        class="button small"
        title={words.checkTitle}
        onClick={() => void checkFile()}
      >
        {words.check}
      </button>
      <button
        type="button"
        class="button small"
        title={words.diffTitle}
        onClick={() => void diffFile()}
      >
        {words.diff}
      </button>
      <button
        type="button"
        class="button small"
        title={words.deleteTitle}
        onClick={() => {
          if (confirm(words.deleteAsk(activePath.value))) void deleteFile();
        }}
      >
        {words.delete}
      </button>
      <button type="button" class="button small quiet" onClick={() => void formatFile()}>
        {words.format}
      </button>
    </div>
  );
}

/** All files, where there is no room for a list of them; the last line leads to the list, for what is done there. */
function FileMenu() {
  return (
    <select
      class="field file-menu"
      aria-label={words.files.list}
      value={activePath.value}
      onChange={(event) => {
        const { value } = event.currentTarget;
        if (value) openFile(value);
        else go('files', LIST);
        event.currentTarget.value = activePath.value;
      }}
    >
      {files.value.map(({ path }) => (
        <option key={path} value={path} translate={false}>
          {path}
        </option>
      ))}
      <option value="">{words.files.all}</option>
    </select>
  );
}
