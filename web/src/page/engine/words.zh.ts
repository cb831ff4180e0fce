import type { Words } from './words';

/** Sentences as they come, with the parts of them that differ; one text may hold several. */
const SENTENCES: readonly (readonly [RegExp, string])[] = [
  // web/src/client
  [/This connection was closed\./, '此连接已关闭。'],
  [/The worker that held the cluster has ended\./, '承载集群的 worker 已结束。'],
  [/The script of the engine worker could not be loaded\./, '引擎 worker 的脚本未能加载。'],
  [
    /The engine worker speaks version (\S+) of the protocol and this page version (\S+)\. Close every tab of this site, then open it again\./,
    '引擎的 worker 使用协议版本 $1，而此页面使用版本 $2。请关闭本站点的所有标签页，然后重新打开。',
  ],
  // web/src/engine
  [/It was not ready after (\d+) seconds\./, '$1 秒后仍未就绪。'],
  [/ Its last words: /, '它最后的输出：'],
  [/The Go program exited with code (-?\d+)\./, 'Go 程序以退出码 $1 结束。'],
  [/It has no WebAssembly, or it is turned off\./, '它没有 WebAssembly，或已将其关闭。'],
  [
    /It cannot compile WebAssembly while it arrives; a version of the last four years can\./,
    '它不能在接收的同时编译 WebAssembly；最近四年的版本可以。',
  ],
  [/A part of the API server is missing\./, '缺少 API 服务器的一部分。'],
  [/(\S+) could not be reached \((.*)\)\./, '无法访问 $1（$2）。'],
  [/The server answered (\d+ ?.*) to (\S+)\.$/, '服务器对 $2 的响应为 $1。'],
  [
    /The server sent (\S+) as (.*); browsers compile only application\/wasm\./,
    '服务器以 $2 发送了 $1；浏览器只编译 application/wasm。',
  ],
  // core/requestlog
  [/Given up for newer requests\./, '已为较新的请求让位。'],
  [/Too large for the log\./, '对日志而言过大。'],
  [/It travelled compressed with gzip\./, '传输时以 gzip 压缩。'],
  [/Only its first (\d+) bytes are in the log\./, '日志中只有前 $1 个字节。'],
  [/Protobuf can only be shown when all of it was kept\./, '只有完整保留的 protobuf 才能显示。'],
  [/Protobuf that could not be read: /, '无法读取的 protobuf：'],
  [/It travelled as protobuf\./, '以 protobuf 传输。'],
  [/Binary data\./, '二进制数据。'],
  [/^the handler panicked$/, '处理程序发生 panic'],
  [/^the client has gone$/, '客户端已离开'],
  // core/controllers
  [/^when there is a root CA$/, '有根 CA 时运行'],
  [/^when there is a cluster CIDR$/, '有集群 CIDR 时运行'],
  [/^its feature gate is off by default$/, '其特性门控默认关闭'],
  [/^off by default upstream: it is for joining nodes$/, '上游默认关闭：用于节点加入'],
  [
    /^ours constructs it: upstream's constructor reads the key from a file$/,
    '由我们的代码构造：上游的构造函数从文件读取密钥',
  ],
  [
    /^upstream's, with a simulated provisioner instead of its volume plugins$/,
    '上游的控制器，以模拟的制备器代替其卷插件',
  ],
  [
    /^a cloud-controller-manager's, with a cloud of ours: load balancers have addresses of (.+)$/,
    'cloud-controller-manager 的控制器，云由我们的代码模拟：负载均衡器的地址取自 $1',
  ],
  [
    /^ours around upstream's authority and rules: upstream's reads the CA from files$/,
    '在上游的签发与规则之外由我们的代码包装：上游的从文件读取 CA',
  ],
  [
    /^ours constructs it: upstream's constructor makes the OpenAPI definitions of all types before any policy exists$/,
    '由我们的代码构造：上游的构造函数在任何策略存在之前就会生成所有类型的 OpenAPI 定义',
  ],
];

export const chinese: Words = {
  said: (text) =>
    SENTENCES.reduce((said, [sentence, translated]) => said.replace(sentence, translated), text),
};
