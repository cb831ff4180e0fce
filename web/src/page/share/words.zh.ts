import { number } from '../language/figures';
import type { Words } from './words';

export const chinese: Words = {
  title: '分享',
  copy: '复制',
  copied: '已复制',
  inMine: '无论读者使用什么语言，链接都以中文打开',
  view: {
    title: '当前所见',
    link: '指向此视图的链接',
    about: '在读者自己的集群中打开此视图。',
    with: (what) => `打开此视图，所在的集群从以下内容开始：${what.join('、')}。`,
    settings: '此引擎的设置',
    without: '你创建的对象不会随链接传递。',
  },
  files: {
    title: '编辑器中的文件',
    link: '包含文件的链接',
    about: '文件就在链接之中，不会发送给任何服务器。添加之前会询问读者，也不会应用任何内容。',
    none: '请选择文件。',
    length: (characters) => `${number(characters)} 个字符`,
    long: (characters, most) =>
      `此链接将有 ${number(characters)} 个字符，而邮件和聊天程序会截断远超 ${number(most)} 个字符的链接。请减少文件，或以归档形式发送。`,
    much: (files, size) =>
      `一个链接最多包含 ${number(files)} 个文件、共 ${size}。请减少文件，或以归档形式发送。`,
    zip: '下载为 zip',
  },
  cluster: {
    title: '此集群',
    link: '包含此集群的链接',
    about:
      '所有对象，以及设置、时钟和工作区的文件。密钥、服务账号的令牌和 kubeconfig 不会包含在内。读者会将它作为新集群打开。',
    secrets: '包含 Secret：任何拥有链接或文件的人都能读取',
    make: '生成链接',
    inLink: '集群（此刻的状态）就在链接之中，不会发送给任何服务器。',
    large: (size) => `此集群有 ${size}，链接容纳不下。`,
  },
  short: {
    about: '此页面的主机可以保存它，以便使用短链接。任何拥有该链接的人都能读取，主机也能读取。',
    make: '发送给主机以获得短链接',
    link: '短链接',
    kept: '主机会一直保存，直到 90 天内无人打开。',
    large: '它超过了主机接受的 256 KiB。请以文件形式发送。',
    refused: (why) => `主机不接受：${why}`,
    unreachable: '无法连接主机。没有发送任何内容。',
  },
  received: {
    title: '来自链接的文件',
    reading: '正在读取链接',
    about: '这些文件由制作链接的人编写。添加它们不会应用任何内容，你自己的文件也保持不变。',
    add: (files) => `添加 ${number(files)} 个文件`,
    leave: '不添加',
    close: '关闭',
    look: '查看内容',
    added: (files) => `已添加 ${number(files)} 个文件。没有应用任何内容。`,
    fates: {
      renamed: (to) => `名称已被占用：将以 ${to} 添加。`,
      same: () => '你已有此文件。',
      refused: () => '不会添加：它的名称是隐藏的、指向工作区之外，或与看上去的不同。',
    },
    unreadable: {
      large: '链接的内容超出页面可从链接接受的上限：100 个文件、1 MB。没有添加任何内容。',
      format: '链接由此页面的另一个版本制作。没有添加任何内容。',
      damaged: '链接已损坏：缺少一部分或被更改。请重新索取。没有添加任何内容。',
      gone: '此页面的主机已不再保存此链接指向的内容：90 天内无人打开，或已被撤下。请重新索取。',
      unreachable: '此链接的内容保存在此页面的主机上，而主机没有响应。请稍后再打开此链接。',
    },
  },
  receivedCluster: {
    title: '来自链接的集群',
    about: (size) =>
      `链接包含一个 ${size} 的集群，由制作链接的人创建，可能包含任何内容。它会作为新集群以自己的名称打开；你的集群保持不变。`,
    open: '作为新集群打开',
    leave: '不打开',
    name: '分享.kubetab',
  },
};
