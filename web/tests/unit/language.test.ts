import { afterEach, describe, expect, test } from 'vitest';
import { language } from '../../src/page/language/current';
import { ago, counted, moment, number } from '../../src/page/language/figures';
import { catalogue, preferred } from '../../src/page/language/language';

afterEach(() => {
  language.value = 'en';
});

describe('the language of a first visit', () => {
  test.each([
    [['en-GB', 'zh-CN'], 'en'],
    [['zh-CN', 'en'], 'zh'],
    [['zh'], 'zh'],
    [['zh-Hans-SG'], 'zh'],
    [['de-DE', 'zh-CN', 'en'], 'zh'],
    [['zh-TW', 'en-US'], 'en'],
    [['zh-Hant-HK', 'zh-Hans'], 'zh'],
    [['fr', 'de'], 'en'],
    [['zha'], 'en'],
    [[], 'en'],
  ] as const)('%j is %s', (wishes, expected) => {
    expect(preferred(wishes)).toBe(expected);
  });
});

test('a catalogue speaks English as long as there is no Chinese to be had', () => {
  const words = catalogue({ said: 'hello' }, () => ({ said: '你好' }));
  language.value = 'zh';
  expect(words.said).toBe('hello');
});

test('numbers and plurals are those of the language', () => {
  expect(counted(1, 'Pod', 'Pods')).toBe('1 Pod');
  expect(counted(0, 'Pod', 'Pods')).toBe('0 Pods');
  expect(counted(12345, 'Pod', 'Pods')).toBe('12,345 Pods');
  language.value = 'zh';
  expect(number(12345)).toBe('12,345');
});

test('a moment is told in the language, and how long ago it was', () => {
  const at = '2026-03-04T05:06:07Z';
  const then = Date.parse(at);
  expect(moment(at)).toMatch(/Mar.*2026/);
  expect(ago(then, then + 200_000)).toBe('3 minutes ago');
  expect(ago(then, then + 86_400_000)).toBe('yesterday');
  language.value = 'zh';
  expect(moment(at)).toMatch(/^2026年3月4日/);
  expect(ago(then, then + 200_000)).toBe('3分钟前');
  expect(moment('never')).toBe('never');
  expect(moment(undefined)).toBe('');
});
