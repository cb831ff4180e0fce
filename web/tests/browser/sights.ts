import type { Page } from 'playwright-core';
import { expect } from 'vitest';
import type { Words as ControlWords } from '../../src/page/control/words';
import type { Words as ShareWords } from '../../src/page/share/words';
import type { Words } from '../../src/page/words';
import { type Camera, show } from './camera';

// States that are looked at in more than one language.

/** The clock from the header, as it goes at first and paused. */
export async function takeClock(
  page: Page,
  camera: Camera,
  { clock }: Words,
  control: ControlWords,
): Promise<void> {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await button(clock.state(clock.times(1))).click();
  await page.locator('.clock-time').waitFor();
  await camera.take('clock');
  await button(control.clock.pause).click();
  await button(clock.state(clock.paused)).waitFor();
  await camera.take('clock-paused');
  await button(control.clock.resume).click();
  await button(clock.state(clock.times(1))).waitFor();
  await page.keyboard.press('Escape');
}

/** What can be shared, the same as it is received, and a link that cannot be read. */
export async function takeSharing(
  page: Page,
  camera: Camera,
  { share }: Words,
  { received }: ShareWords,
): Promise<void> {
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await button(share.open).click();
  const links = page.locator('.link-field input');
  await expect.poll(() => links.nth(1).inputValue()).toContain('#shared/1/');
  const link = await links.nth(1).inputValue();
  await camera.take('share');
  await page.keyboard.press('Escape');
  await show(page, new URL(link).hash);
  await page.getByRole('dialog').getByText(received.fates.same('')).first().waitFor();
  await camera.take('receive');
  await button(received.leave).click();
  await show(page, '#shared/1/torn');
  await page.getByRole('alert').getByText(received.unreadable.damaged).waitFor();
  await camera.take('receive-damaged');
  await page.keyboard.press('Escape');
}
