import { afterEach, expect, test, vi } from 'vitest';
import type { Block } from '../../src/embed/block';
import { commandOf, fileNamed } from '../../src/embed/command';
import { keepSample } from '../../src/embed/samples';
import { wordsOf } from '../../src/embed/words';

afterEach(() => vi.unstubAllGlobals());

/** A page with these texts by id and by address. */
function page(texts: Record<string, string>) {
  vi.stubGlobal('document', {
    baseURI: 'https://docs.example/guide/',
    getElementById: (id: string) => (`#${id}` in texts ? { textContent: texts[`#${id}`] } : null),
  });
  vi.stubGlobal('fetch', async ({ href }: URL) =>
    href in texts ? new Response(texts[href]) : new Response('', { status: 404 }),
  );
}

const words = wordsOf({ closest: () => ({ getAttribute: () => 'en' }) } as unknown as Element);

function command(code: string, attributes: Record<string, string> = {}, kind = 'shell') {
  const snippet = { getAttribute: (name: string) => attributes[name] ?? null };
  return commandOf(snippet as unknown as Element, { code, kind } as Block, words);
}

test('of lines, they are run; of YAML, it is applied', async () => {
  expect(await command('$ kubectl get pods\nNAME')).toBe('kubectl get pods');
  expect(await command('kind: Pod', {}, 'yaml')).toBe(
    "kubectl apply -f - <<'EOF'\nkind: Pod\nEOF\n",
  );
});

test('a template is around the code as it is written', async () => {
  page({ '#frame': 'before\n##CODE##\nafter', 'https://docs.example/guide/t.sh': 'a ##CODE##' });
  expect(await command("echo '$&' $1", { template: '#frame' })).toBe("before\necho '$&' $1\nafter");
  expect(await command('x', { template: 't.sh' })).toBe('a x');
  await expect(command('x', { template: '#nothing' })).rejects.toThrow(
    'There is no #nothing in this page.',
  );
  await expect(command('x', { template: 'nothing.sh' })).rejects.toThrow(
    'nothing.sh could not be fetched.',
  );
});

test('files are written before', async () => {
  page({ '#manifest': 'kind: Pod', 'https://docs.example/guide/b.txt': 'b' });
  expect(await command('ls', { files: "#manifest:it's.yaml b.txt" })).toBe(
    `mkdir -p "$(dirname 'it'\\''s.yaml')" && cat > 'it'\\''s.yaml' <<'EOF'\nkind: Pod\nEOF\n` +
      `mkdir -p "$(dirname 'b.txt')" && cat > 'b.txt' <<'EOF'\nb\nEOF\nls`,
  );
});

test('an address of one of the page’s own blocks is a file', async () => {
  keepSample('application/web.yaml', { code: 'kind: Pod' });
  expect(await command('kubectl apply -f https://k8s.io/examples/application/web.yaml')).toMatch(
    /cat > 'application\/web.yaml' .*\nkubectl apply -f application\/web.yaml$/s,
  );
});

test.each([
  ['#manifest', '#manifest', 'manifest'],
  ['#manifest:shop.yaml', '#manifest', 'shop.yaml'],
  ['files/shop.yaml', 'files/shop.yaml', 'shop.yaml'],
  ['https://docs.example/shop.yaml', 'https://docs.example/shop.yaml', 'shop.yaml'],
  ['https://docs.example/shop.yaml:a/b.yaml', 'https://docs.example/shop.yaml', 'a/b.yaml'],
  ['https://docs.example:8443/s.yaml:b.yaml', 'https://docs.example:8443/s.yaml', 'b.yaml'],
  ['https://docs.example:8443/s.yaml', 'https://docs.example:8443/s.yaml', 's.yaml'],
])('the file %s', (word, from, path) => {
  expect(fileNamed(word)).toEqual({ from, path });
});
