// Runs before the page's own code, which is a fifth of a second away. A file of its own because the content security
// policy allows no inline script.

{
  // Another copy of the page may be on the same origin, in another folder.
  const folder = new URL('./', document.baseURI).pathname;
  const stored = (storage, key) => {
    try {
      return window[storage].getItem(key);
    } catch {
      return null; // closed to this window
    }
  };

  // A chosen theme shall not flash in the other one first. See src/page/frame/theme.ts for the rest.
  const name = 'kubetab.theme'; // as nameIn in src/client/folder.ts has it
  const theme = stored('localStorage', folder === '/' ? name : `${folder} ${name}`);
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;

  // Which cluster this document is in, for as long as it lives: that of the lesson in the address, the one that the address
  // names, the one that this tab was in, or the visitor's own. See src/client/cluster-names.ts and src/page/engine/here.ts.
  const isName = (name) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(name ?? '');
  // The build names the lessons. An address of another one begins no cluster: there would be nothing to do in it.
  const lessons = '__LESSON_IDS__'.split(' ');
  const [, part, lesson] =
    /^#\/lesson\/([a-z0-9-]+)\/([a-z0-9-]+)(?:\/|$)/.exec(location.hash) ?? [];
  const asked = new URLSearchParams(location.search).get('cluster');
  const isKnown =
    asked === 'own' || stored('localStorage', `kubetab.title ${folder}{${asked}}`) !== null;
  const cluster =
    [
      lessons.includes(`${part}/${lesson}`) && `lesson-${part}-${lesson}`,
      /^(shop|custom|broken|system)$/.test(asked) && `prepared-${asked}`,
      isKnown && asked,
      stored('sessionStorage', `kubetab.in ${folder}`),
    ].find((name) => name && isName(name)) ?? 'own';
  document.documentElement.dataset.cluster = cluster;
  try {
    sessionStorage.setItem(`kubetab.in ${folder}`, cluster);
  } catch {
    // A reload asks the address again.
  }

  // The engine has the longest way to go. The page finds the worker by its address and name: see src/client/home.ts, which
  // also hears of what is wrong with it.
  if (typeof SharedWorker === 'function') {
    const name = cluster === 'own' ? 'kubetab' : `kubetab{${cluster}}`;
    try {
      new SharedWorker('__WORKER__', { type: 'module', name, extendedLifetime: true });
    } catch {
      // Storage is closed to this window: the page takes a worker of its own.
    }
  }
}

// A frame with the attribute sandbox, and without allow-same-origin, has no origin. Browsers then load neither the page's
// module nor any worker, so that this script is all that runs.
if (window.origin === 'null') {
  const sentences = {
    en: [
      'Kubetab cannot run in this frame, which the page around it has cut off from its site (sandbox without allow-same-origin).',
      'Open it in a tab of its own',
    ],
    'zh-Hans': [
      'Kubetab 无法在此框架中运行：外层页面将其与所属站点隔离（sandbox 未包含 allow-same-origin）。',
      '在单独的标签页中打开',
    ],
  };
  addEventListener('DOMContentLoaded', () => {
    for (const [lang, [what, next]] of Object.entries(sentences)) {
      const line = document.createElement('p');
      const link = document.createElement('a');
      line.lang = lang;
      link.href = location.href;
      link.target = '_blank';
      link.textContent = next;
      line.append(`${what} `, link);
      document.body.append(line);
    }
  });
} else {
  // When the page's module or what it imports is not loaded, or throws, this script is all that runs. index.html has the
  // sentences until the page is drawn.
  addEventListener(
    'error',
    ({ target, message }) => {
      const why = target === window ? message : target.localName === 'script' && target.src;
      const place = document.getElementById('failed');
      if (!place || !why) return;
      place.hidden = false;
      place.lastElementChild.textContent = why;
      place.onclick = (event) => {
        if (event.target.localName !== 'a') return;
        event.preventDefault(); // its address is without the query and the fragment
        location.reload();
      };
    },
    true,
  );
}
