// A site whose blocks run: the one element in `head` is all that it has of Kubetab.
import { defineConfig } from 'vitepress';

export default defineConfig({
  title: 'Samples',
  outDir: '../../../build/samples/vitepress',
  cacheDir: '../../../build/samples/cache',
  head: [
    [
      'script',
      {
        src: 'https://kubetab.example/embed.js',
        'data-selector': '.language-sh code, .language-yaml code',
        defer: '',
      },
    ],
  ],
  themeConfig: {
    sidebar: [
      { text: 'Namespaces', link: '/' },
      { text: 'Labels', link: '/labels' },
    ],
  },
});
