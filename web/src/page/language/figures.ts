import { computed } from '@preact/signals';
import { language } from './current';

/* Numbers, plurals and times in the language that is shown, as Intl has them. */

const formats = computed(() => {
  const tag = language.value === 'zh' ? 'zh-CN' : 'en';
  return {
    plain: new Intl.NumberFormat(tag),
    moment: new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeStyle: 'medium' }),
    relative: new Intl.RelativeTimeFormat(tag, { numeric: 'auto' }),
  };
});

/** 12345 -> "12,345". */
export function number(n: number): string {
  return formats.value.plain.format(n);
}

/** English has two forms: "1 Pod", "3 Pods". Chinese has one and needs none of this. */
const english = new Intl.PluralRules('en');

/** @param one and `many` are what follows the number */
export function counted(n: number, one: string, many: string): string {
  return `${number(n)} ${english.select(n) === 'one' ? one : many}`;
}

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

/** "3 minutes ago", "yesterday"; where kubectl would print an age, ages are kubectl's (`age` of the cluster view). */
export function ago(at: number, now: number): string {
  const seconds = (at - now) / 1000;
  const [unit, size] = UNITS.find(([, least]) => Math.abs(seconds) >= least) ?? UNITS[3];
  return formats.value.relative.format(Math.round(seconds / size), unit);
}

/**
 * A moment of the API in the visitor's own time: "20 Nov 2026, 16:20:07".
 *
 * @param at as RFC 3339; what cannot be read is given back
 */
export function moment(at: string | undefined): string {
  const time = Date.parse(at ?? '');
  return Number.isNaN(time) ? (at ?? '') : formats.value.moment.format(time);
}
