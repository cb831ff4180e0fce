import type { Words } from './words';

export const chinese: Words = {
  label: '终端。按 Shift+Tab 离开。',
  title: '终端',
  loading: '正在加载终端',
  waiting: 'API 服务器正在启动。你输入的内容会在就绪后执行。',
  noEngine: '无法连接到引擎。',
  left: 'shell 已结束。这是一个新的 shell。',
  lost: '引擎已结束。新的 shell 会随引擎一起启动。',
  keys: '按键',
};
