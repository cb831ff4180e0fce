import { expect, test } from 'vitest';
import { placeAt } from '../../src/page/files/language/path-at';

/** The place at the mark `|` in a document. */
function at(text: string) {
  return placeAt((text.split('|')[0] as string).split('\n'));
}

test.each([
  ['spec:\n  rep|', ['spec'], 'rep', null],
  ['spec:\n  replicas: 3\n  |', ['spec'], '', null],
  ['spec:\n  replicas: |', ['spec'], 'replicas', ''],
  ['kind: Dep|', [], 'kind', 'Dep'],
  ['|', [], '', null],
  // Lists, indented and not, with keys on the line of the dash and below it.
  ['spec:\n  containers:\n    - na|', ['spec', 'containers', 0], 'na', null],
  ['spec:\n  containers:\n  - name: a\n    im|', ['spec', 'containers', 0], 'im', null],
  ['spec:\n  containers:\n  - name: a\n  - |', ['spec', 'containers', 0], '', null],
  [
    'spec:\n  containers:\n  - name: a\n    ports:\n    - containerPort: 80\n      pro|',
    ['spec', 'containers', 0, 'ports', 0],
    'pro',
    null,
  ],
  ['items:\n- spec:\n    a|', ['items', 0, 'spec'], 'a', null],
  // What stands beside the way up is no part of it.
  ['metadata:\n  labels:\n    app: x\nspec:\n  |', ['spec'], '', null],
  ['metadata:\n  labels:\n    # a comment\n\n    |', ['metadata', 'labels'], '', null],
  ['a:\n  "b.c":\n    d|', ['a', 'b.c'], 'd', null],
  ['args: [x]\nspec:\n  args:\n    - --flag=a\n    - |', ['spec', 'args', 0], '', null],
])('%j', (text, path, key, value) => {
  expect(at(text)).toEqual({ path, key, value });
});
