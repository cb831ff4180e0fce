import './lesson-table.css';
import { useSignal } from '@preact/signals';
import type { Block } from '../../../answers/load';
import { lessonHere } from '../course/home';
import { lessonOf } from '../course/load';
import { words } from '../words';

/** As load.Cells. */
const cellsOf = (line: string) => line.split(' | ');

/** The rows of a file that the lesson has brought, and a field that leaves those with all of the words in it. */
export function TableBlock({ block }: { block: Block }) {
  const { file = '', text: headLine = '' } = block;
  const wanted = useSignal('');
  const loaded = lessonOf(lessonHere.value);
  const text = (loaded.state === 'loaded' && loaded.value.files?.[file]) || '';
  const all = text.trimEnd().split('\n');
  const heads = cellsOf(headLine);
  const parts = wanted.value.toLowerCase().split(/\s+/);
  const rows = all.filter((row) => parts.every((part) => row.toLowerCase().includes(part)));
  return (
    <div class="lesson-table">
      <p class="lesson-table-bar">
        <input
          class="field"
          type="search"
          placeholder={words.table.filter}
          aria-label={words.table.filter}
          value={wanted.value}
          spellcheck={false}
          autocapitalize="off"
          onInput={(event) => {
            wanted.value = event.currentTarget.value;
          }}
        />
        <span class="faint" role="status">
          {words.table.count(rows.length, all.length)}
        </span>
      </p>
      <section
        class="lesson-table-rows"
        aria-label={file}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
        tabIndex={0}
      >
        <table>
          <thead>
            <tr>
              {heads.map((head) => (
                <th key={head}>{head}</th>
              ))}
            </tr>
          </thead>
          <tbody translate={false}>
            {rows.map((row) => (
              <tr key={row}>
                {cellsOf(row).map((cell, i) => (
                  <td key={heads[i]}>{cell === '-' ? '' : cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
    </div>
  );
}
