import type { Words } from './words';

export const chinese: Words = {
  title: '设置',
  identity: {
    title: '当前身份',
    about:
      '实时视图、编辑器和控制台以谁的身份发出请求。管理员会伪装（impersonate）成其他用户，与 kubectl --as 相同：在请求检查器中可以看到这些请求头。',
    admin: ['管理员', '属于 system:masters 组：不经过 RBAC 检查。'],
    editor: [
      '编辑者',
      'kubetab-edit，ClusterRole edit：可以更改命名空间中的大多数对象，但不包括角色。',
    ],
    viewer: ['查看者', 'kubetab-view，ClusterRole view：可以读取大多数对象，但不包括 Secret。'],
    account: ['服务账号', '即以它运行的 Pod 的权限：在绑定角色之前，什么都不能做。'],
    choose: '服务账号',
  },
  clock: {
    title: '时钟',
    about: '控制器、调度器和节点都以此时钟为准：无需等待 Job、CronJob 和超时。',
    now: '当前时间',
    pause: '暂停',
    resume: '继续',
    paused: '已暂停',
    speed: '速度',
    speeds: {
      1: '与真实时间相同',
      10: '10 倍',
      60: '每秒一分钟',
      600: '每秒 10 分钟',
    },
    step: '前进',
    steps: { 10: '10 秒', 60: '1 分钟', 3600: '1 小时', 86400: '1 天' },
    missing: '此引擎没有自己的时钟。',
  },
  engine: {
    title: '引擎',
    about: '在此标签页的本次启动中测得。',
  },
  look: {
    title: '外观',
    theme: '主题',
  },
};
