import type { EngineState } from '../protocol';

/** What snippets say, in the language of the page that they are in. */
const english = {
  run: 'Run',
  apply: 'Apply',
  stop: 'Stop',
  edit: 'Edit',
  reset: 'Reset',
  open: 'Open in Kubetab',
  output: 'Output',
  whole: 'Whole output',
  picture: 'The cluster appears here when something has run.',
  pictureTitle: 'The cluster',
  running: 'Running',
  waiting: 'Waits for another block to end',
  done: (seconds: string) => `Done in ${seconds} s`,
  failed: (code: number) => `Ended with exit code ${code}`,
  stopped: 'Stopped',
  empty: 'There is nothing to run.',
  starting: 'Starting the API server',
  downloading: (now: string, all: string) => `Downloading the API server: ${now} of ${all} MB`,
  /** `why` is a sentence. */
  cannot: (why: string) => `This cannot run here now. ${why}`,
  missing: (name: string) => `There is no ${name} in this page.`,
  unreachable: (name: string) => `${name} could not be fetched.`,
};

const chinese: Words = {
  run: '运行',
  apply: '应用',
  stop: '停止',
  edit: '编辑',
  reset: '还原',
  open: '在 Kubetab 中打开',
  output: '输出',
  whole: '完整输出',
  picture: '运行命令后，集群会显示在这里。',
  pictureTitle: '集群',
  running: '正在运行',
  waiting: '正在等待另一个代码块结束',
  done: (seconds) => `完成，用时 ${seconds} 秒`,
  failed: (code) => `已结束，退出码为 ${code}`,
  stopped: '已停止',
  empty: '没有可运行的内容。',
  starting: '正在启动 API 服务器',
  downloading: (now, all) => `正在下载 API 服务器：${now} / ${all} MB`,
  cannot: (why) => `目前无法在此运行。${why}`,
  missing: (name) => `此页面中没有 ${name}。`,
  unreachable: (name) => `无法获取 ${name}。`,
};

export type Words = typeof english;

export function wordsOf(element: Element): Words {
  const lang = element.closest('[lang]')?.getAttribute('lang') ?? navigator.language;
  return /^zh/i.test(lang) ? chinese : english;
}

/** How far an engine has come that is not ready. */
export function progress(words: Words, state: EngineState | null): string {
  if (state?.phase !== 'downloading' || state.loaded >= state.total) return words.starting;
  // What counts for the visitor is what travels: the compressed module.
  const mb = (share: number) => (share * state.transferTotal * 1e-6).toFixed(1);
  return words.downloading(mb(state.loaded / state.total), mb(1));
}
