import type { Words } from './example-words';

export const chinese: Words = {
  groups: {
    read: '读取',
    watch: '监视',
    write: '写入',
    apply: '服务器端应用',
    kind: '自定义类别',
    look: '四处看看',
  },
  examples: {
    'list-namespaces': {
      title: '列举命名空间',
      about:
        '每种对象都有一个集合。此页面的任何脚本都会得到同样的响应：在浏览器控制台中试试 fetch("api/v1/namespaces")。',
    },
    'get-namespace': {
      title: '读取一个对象',
      about: '对象的路径就是其集合的路径加上它的名称。',
    },
    table: {
      title: '以表格列举',
      about: 'kubectl get 打印的列由服务器自己生成：用 Accept 请求头就可以要到。',
    },
    chunks: {
      title: '分块列举',
      about: '指定 limit 后，服务器先给出几个条目和一个 continue 令牌，其余条目来自同一时刻。',
    },
    'metadata-only': {
      title: '仅元数据',
      about: 'PartialObjectMetadata 不含 spec 和 status。只需要标签和属主的控制器就这样请求。',
    },
    watch: {
      title: '监视 ConfigMap',
      about:
        '响应永不结束：先是现有的对象，之后每次变更一个事件。在另一个标签页中打开此页面并改动一些内容试试。',
    },
    'watch-bookmarks': {
      title: '流式列举',
      about: '以监视的形式列举：现有对象以事件的形式到达，书签标出列表的结尾，之后是变更。',
    },
    create: {
      title: '创建一个 ConfigMap',
      about: '向集合发送 POST。服务器会加上 uid、resourceVersion、创建时间和 managedFields。',
    },
    'dry-run': {
      title: '试运行',
      about: 'dryRun=All 会走完默认值填充、准入和校验的全过程，但不保存任何内容。',
    },
    'merge-patch': {
      title: '合并补丁',
      about: '只发送有变化的部分；null 会删除一个键。列表会被整体替换。',
    },
    'json-patch': {
      title: 'JSON 补丁',
      about: '一组操作。其中的 test 会让补丁在别人抢先修改时失败。',
    },
    'strategic-patch': {
      title: '策略性合并补丁',
      about: '它了解类型：容器按名称合并，而不是被替换。请先运行“应用一个 Deployment”。',
    },
    strict: {
      title: '未知字段',
      about: 'fieldValidation=Strict 会拒绝本来只给出警告就丢弃的字段。',
    },
    delete: {
      title: '删除',
      about: '响应是一个 Status；如果有终结器（finalizer）阻止删除，则是该对象本身。',
    },
    apply: {
      title: '应用一个 Deployment',
      about: '你发送自己关心的字段，服务器会记住它们归你所有：见响应中的 managedFields。',
    },
    'apply-conflict': {
      title: '冲突',
      about: 'bob 想要的副本数与 alice 不同。服务器返回 409 并指出属主，而不是让后写者获胜。',
    },
    'apply-force': {
      title: '强制接管',
      about: 'force=true 使 bob 成为冲突字段的属主。alice 下次应用时会得知这一点。',
    },
    crd: {
      title: '定义带规则的 Boat',
      about:
        'CustomResourceDefinition 会为 API 增加一种类别。每次写入时，服务器都会检查其 CEL 规则。',
    },
    'crd-refused': {
      title: '违反规则',
      about: '三个人，两个铺位：返回 422，并附上规则的消息。',
    },
    'crd-create': {
      title: '遵守规则',
      about: '两个人，两个铺位：创建成功。',
    },
    'crd-table': {
      title: '以表格列举 Boat',
      about: '列就是定义中所要求的那些。',
    },
    discovery: {
      title: '发现',
      about: '一个响应给出所有的组、版本和资源：也就是 kubectl api-resources 打印的内容。',
    },
    openapi: {
      title: 'OpenAPI',
      about: '每个组和版本各有一份文档。首次请求某份文档时才会生成它，需要片刻。',
    },
    version: { title: '版本', about: '这是哪个服务器。' },
    health: { title: '健康状况', about: '按名称列出每项检查。用 exclude 可以排除其中几项。' },
    'can-i': {
      title: '我可以吗？',
      about: '创建一个 review 对象，结果写在其 status 中，并不保存。这就是 kubectl auth can-i。',
    },
  },
};
