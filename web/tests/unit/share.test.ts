import { describe, expect, test } from 'vitest';
import { nameIn } from '../../src/page/files/workspace/workspace';
import { LONGEST_LINK, MOST_BYTES, MOST_FILES, pack, unpack } from '../../src/page/share/link';
import { isHostile, planOf } from '../../src/page/share/plan';

const file = (path: string, text = 'a: 1\n') => ({ path, text });

/** What somebody else's program makes of any bytes. */
async function packed(bytes: BlobPart): Promise<string> {
  const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream('deflate'));
  return `1/${Buffer.from(await new Response(stream).arrayBuffer()).toString('base64url')}`;
}
const json = (value: unknown) => packed(JSON.stringify(value));
const reason = (text: string) =>
  unpack(text).then(
    () => 'read',
    (error: unknown) => (error as { reason: string }).reason,
  );

describe('a link with files', () => {
  test('brings them as they were', async () => {
    const files = [
      file('a.yaml'),
      file('notes/ä 文 <b>.yaml', '名: 值\r\n\u0000\t"'),
      file('empty', ''),
    ];
    const text = await pack(files);
    expect(text).toMatch(/^1\/[\w-]+$/);
    expect(await unpack(text)).toEqual(files);
  });

  test('brings all that one may hold, however it is spelled in it', async () => {
    const files = [
      file('a', '\n'.repeat(MOST_BYTES / 2)),
      file('b', '\u0001'.repeat(MOST_BYTES / 2)),
    ];
    const text = await pack(files);
    expect(text.length).toBeLessThan(LONGEST_LINK);
    expect(await unpack(text)).toEqual(files);
  });

  test('that was cut anywhere, or altered, is known as damaged', async () => {
    const text = await pack([file('a.yaml', 'kind: Pod\nname: something or other\n')]);
    for (let end = 2; end < text.length; end++) {
      expect(await reason(text.slice(0, end)), `${end}`).toBe('damaged');
    }
    // The last letters may hold bits that mean nothing.
    for (let at = 2; at < text.length - 4; at++) {
      const other = text[at] === 'A' ? 'B' : 'A';
      const altered = `${text.slice(0, at)}${other}${text.slice(at + 1)}`;
      expect(await reason(altered), altered).toBe('damaged');
    }
  });

  test('is read only as what it should be', async () => {
    for (const value of [null, 1, 'a', {}, [], [1], [['a']], [['a', 1]], [['a', 'b', 'c']]]) {
      expect(await reason(await json(value)), JSON.stringify(value)).toBe('damaged');
    }
    expect(await reason(await packed(new Uint8Array([0x5b, 0xff, 0x5d])))).toBe('damaged');
    for (const text of ['', 'x', '1', '1/', '1/%00', '1/a b', '1/<b>', 'constructor']) {
      expect(await reason(text), text).toBe('damaged');
    }
    expect(await reason('2/eJyLjgUAARUAuQ')).toBe('format');
  });

  test('that is larger than links are made here is refused before it is all there', async () => {
    expect(await reason(`1/${'A'.repeat(LONGEST_LINK + 1)}`)).toBe('large');
    // 24 MB in less than a link's length.
    const bomb = await packed(`[["a","${' '.repeat(24_000_000)}"]]`);
    expect(bomb.length).toBeLessThan(LONGEST_LINK);
    expect(await reason(bomb)).toBe('large');
    expect(await reason(await json([['a', ' '.repeat(MOST_BYTES + 1)]]))).toBe('large');
    expect(await reason(await json(Array(MOST_FILES + 1).fill(['a', 'b'])))).toBe('large');
    expect(await reason(await json(Array(MOST_FILES).fill(['a', 'b'])))).toBe('read');
  });
});

describe('what is made of the files of a link', () => {
  test('names that could do harm are refused', () => {
    const hostile = [
      ['', '/', '/etc/passwd', 'a/', 'a//b', '.', '..', '../a', 'a/../b', './a'],
      ['.bashrc', '.kube/config', 'a/.git/config', '-rf', 'a/--all'],
      ['a\u0000b', 'a\nb', 'a\u001b[2J', 'inv\u202eoice.yaml', 'a\u200bb', '\ud800', 'a\u2028b'],
      ['a\\b', ' a', 'a ', 'a/ b', 'x'.repeat(201)],
    ].flat();
    for (const path of hostile) expect(isHostile(path), JSON.stringify(path)).toBe(true);
    for (const path of ['a.yaml', 'a/b/c.json', 'ä 文.yaml', '<img src=x>', "a'b", '$(x)', 'a-b']) {
      expect(isHostile(path), path).toBe(false);
    }
  });

  test('a name that is taken is left to whom it belongs', () => {
    const there = [file('a.yaml', 'mine'), file('b.yaml'), file('folder/x', 'mine')];
    const shared = [
      file('a.yaml'),
      file('a.yaml', 'another'),
      file('b.yaml'),
      file('c.yaml'),
      file('folder'),
      file('a.yaml/deep'),
      file('data.bin'),
      file('.bashrc'),
    ];
    const plan = planOf(shared, there, ['data.bin']);
    expect(plan.map(({ fate, to }) => [fate, to])).toEqual([
      ['renamed', 'a-2.yaml'],
      ['renamed', 'a-3.yaml'],
      ['same', 'b.yaml'],
      ['new', 'c.yaml'],
      ['renamed', 'folder-2'],
      ['renamed', 'a.yaml-deep'],
      ['renamed', 'data-2.bin'],
      ['refused', ''],
    ]);
  });

  test('a free name can be beside all others', () => {
    expect(nameIn([], 'a/b.yaml')).toBe('a/b.yaml');
    expect(nameIn(['a/b.yaml', 'a/b-2.yaml'], 'a/b.yaml')).toBe('a/b-3.yaml');
    expect(nameIn(['a'], 'a/b.yaml')).toBe('a-b.yaml');
    expect(nameIn(['a', 'a-b.yaml'], 'a/b.yaml')).toBe('a-b-2.yaml');
    expect(nameIn(['a/b'], 'a')).toBe('a-2');
  });
});
