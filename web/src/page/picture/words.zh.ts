import { number } from '../language/figures';
import type { Words } from './words';

export const chinese: Words = {
  label: '工作负载、节点和 Service',
  unscheduled: '尚未调度到节点',
  pods: (n) => `${number(n)} 个 Pod`,
  of: (n, wanted) => `${number(wanted)} 个 Pod 中的 ${number(n)} 个`,
  pod: (name, phase) => `Pod ${name}，${phase}`,
  notReady: '未就绪',
  cordoned: '已停止调度',
  phases: {
    Running: '运行中',
    Pending: '悬决',
    Succeeded: '成功',
    Failed: '失败',
    Terminating: '终止中',
  },
  legend: '按阶段统计的 Pod',
  noNodes: '此集群没有节点。',
  empty: (namespace) => `${namespace ? `命名空间 ${namespace} ` : '此集群'}中还没有 Pod。`,
  tryThis: '在编辑器中应用 deployment.yaml，或者试试：',
  tryCommand: 'kubectl create deployment hello --image=nginx --replicas=3',
  simulated: '节点是模拟的；API 服务器、调度器和控制器都是真实的。',
  waiting: 'API 服务器一就绪，全景图就会显示。',
  loading: '正在读取集群',
};
