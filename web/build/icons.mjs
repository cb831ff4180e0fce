// Draws the icons of an installed page from its mark, public/favicon.svg, into public/icons. To be run by hand when the mark
// has changed: node build/icons.mjs
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { launch } from './chromium.mjs';

const icons = resolve(import.meta.dirname, '../public/icons');
const mark = await readFile(resolve(icons, '../favicon.svg'), 'utf8');
const drawing = mark.replace(/<style>.*<\/style>/s, '').replace(/<\/?svg[^>]*>/g, '');

/**
 * @param {number} share of the width that the mark takes
 * @param {number} radius of the corners, of a width of 32
 */
const svg = (
  share,
  radius,
) => `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32" fill="none">
  <style>path { stroke: #fff } circle { fill: #fff }</style>
  <rect width="32" height="32" rx="${radius}" fill="#2f5fd0"/>
  <g transform="translate(${16 - 16 * share} ${16 - 16 * share}) scale(${share})">${drawing}</g>
</svg>
`;
// Systems cut a maskable icon to any shape that holds the circle of 80 % of its width.
const maskable = svg(0.62, 0);
const rounded = svg(0.76, 7);

const profile = await mkdtemp(join(tmpdir(), 'kubetab-icons-'));
const page = await launch(profile);
try {
  for (const [name, text, size] of [
    ['icon-192.png', rounded, 192],
    ['icon-512.png', rounded, 512],
    ['maskable-192.png', maskable, 192],
    ['maskable-512.png', maskable, 512],
    // iOS cuts the corners by itself.
    ['apple-touch-180.png', maskable, 180],
  ]) {
    const png = await page.evaluate(draw, text, size);
    await writeFile(join(icons, name), Buffer.from(png, 'base64'));
  }
  await writeFile(join(icons, 'icon.svg'), rounded);
  await writeFile(join(icons, 'maskable.svg'), maskable);
} finally {
  await page.close();
  await rm(profile, { recursive: true });
}

async function draw(text, size) {
  const image = new Image();
  image.src = `data:image/svg+xml;base64,${btoa(text)}`;
  await image.decode();
  const canvas = document.createElement('canvas');
  canvas.width = size;
  canvas.height = size;
  canvas.getContext('2d').drawImage(image, 0, 0, size, size);
  return canvas.toDataURL('image/png').split(',')[1];
}
