import { useSignal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { notice } from '../../engine/cluster';
import { PaneBar } from '../../frame/PaneBar';
import { bytes } from '../../parts/format';
import { words } from '../words';
import { addFiles } from '../workspace/add-files';
import { downloadZip } from '../workspace/download';
import { newFile, openFiles, showFile } from '../workspace/open';
import {
  activePath,
  files,
  refused,
  removeFile,
  renameFile,
  trouble,
} from '../workspace/workspace';

/** The files of the workspace. */
export function FilesView() {
  useLayoutEffect(openFiles, []);
  const chooser = useRef<HTMLInputElement>(null);
  const text = words.files;
  return (
    <section class="files pane" aria-label={text.list}>
      <PaneBar pane="left">
        <h2 class="bar-title">{text.title}</h2>
      </PaneBar>
      <div class="toolbar">
        <button type="button" class="button small" onClick={newFile}>
          {text.new}
        </button>
        <button type="button" class="button small" onClick={() => chooser.current?.click()}>
          {text.add}
        </button>
        <input
          ref={chooser}
          type="file"
          multiple
          hidden
          onChange={(event) => {
            if (event.currentTarget.files) void addFiles(event.currentTarget.files);
            event.currentTarget.value = '';
          }}
        />
        <button type="button" class="button small" onClick={() => void downloadZip(files.value)}>
          {text.download}
        </button>
      </div>
      {trouble.value && <p class="refusal">{text.trouble(trouble.value)}</p>}
      {refused.value && (
        <p class="refusal" role="alert" translate={false}>
          {refused.value}
        </p>
      )}
      <ul class="file-list">
        {files.value.map(({ path, text: content }) => (
          <FileRow key={path} path={path} size={content.length} />
        ))}
      </ul>
      <p class="empty">{text.about}</p>
    </section>
  );
}

function FileRow({ path, size }: { path: string; size: number }) {
  const renaming = useSignal(false);
  const refusal = useSignal('');
  const text = words.files;
  if (renaming.value) {
    return (
      <li>
        <form
          class="rename"
          onSubmit={(event) => {
            event.preventDefault();
            const to = new FormData(event.currentTarget).get('name');
            void renameFile(path, String(to ?? '').trim()).then((why) => {
              refusal.value = why;
              if (!why) renaming.value = false;
            });
          }}
          onKeyDown={(event) => {
            if (event.key === 'Escape') renaming.value = false;
          }}
        >
          <input
            class="field"
            name="name"
            aria-label={text.renameAsk}
            defaultValue={path}
            ref={(element) => element?.focus()}
          />
          <button type="submit" class="button small primary">
            {text.rename}
          </button>
          {refusal.value && (
            <p class="tone-bad" role="alert">
              {refusal.value}
            </p>
          )}
        </form>
      </li>
    );
  }
  return (
    <li class="file-row">
      <button
        type="button"
        class="entry"
        aria-current={path === activePath.value}
        onClick={() => showFile(path)}
      >
        <span class="entry-title" translate={false}>
          {path}
        </span>
        <span class="faint">{bytes(size)}</span>
      </button>
      <button
        type="button"
        class="link"
        onClick={() => {
          renaming.value = true;
        }}
      >
        {text.rename}
      </button>
      <button
        type="button"
        class="link"
        onClick={() => {
          const restore = removeFile(path);
          notice.value = {
            text: () => text.removed(path),
            action: {
              label: () => text.undo,
              run: () => {
                notice.value = null;
                restore();
              },
            },
          };
        }}
      >
        {text.remove}
      </button>
    </li>
  );
}
