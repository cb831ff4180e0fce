import { describe, expect, it } from 'vitest';
import { parseMessage } from '../../src/page/terminal/messages';

const base64 = (text: string) => btoa(String.fromCharCode(...new TextEncoder().encode(text)));

describe('messages of the shell', () => {
  it('have a kind and fields in base64', () => {
    expect(parseMessage(`history;${base64('echo "a;b" 世界')}`)).toEqual({
      kind: 'history',
      line: 'echo "a;b" 世界',
    });
    expect(parseMessage(`edit;${base64('e1')};${base64('/tmp/x.yaml')}`)).toEqual({
      kind: 'edit',
      token: 'e1',
      path: '/tmp/x.yaml',
    });
    expect(parseMessage(`over;${base64('e1')}`)).toEqual({ kind: 'over', token: 'e1' });
  });

  it.each(['', 'history', 'edit;ZTE=', 'history;not base64!', 'later;ZTE='])(
    '%j is none',
    (text) => {
      expect(parseMessage(text)).toBeNull();
    },
  );
});
