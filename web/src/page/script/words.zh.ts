import type { Words } from './words';

export const chinese: Words = {
  run: '运行',
  runTitle: '在单独的 worker 中运行此文件（Ctrl Enter）',
  again: '重新运行',
  againTitle: '停止脚本，并以文件现在的内容重新运行（Ctrl Enter）',
  stop: '停止',
  stopTitle: '结束脚本及其请求，包括正在进行的监视',
  phases: {
    waiting: '正在等待 API 服务器',
    running: '正在运行',
    ended: '已结束',
    failed: '因错误而结束',
    stopped: '已停止',
  },
  output: (path) => `${path} 的输出`,
  clear: '清除输出',
  nothing: '还没有输出。console.log 的内容会显示在这里。',
  left: (count) => `另有 ${count} 行较早或过快的输出未显示。`,
  atLine: (line, path) => `${path} 第 ${line} 行`,
  noModule: '这不是可以运行的 JavaScript。',
};
