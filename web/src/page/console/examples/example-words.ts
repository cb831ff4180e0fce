import { catalogue } from '../../language/language';

/** What the examples are called and what they show, in one or two sentences. */
export const english = {
  groups: {
    read: 'Read',
    watch: 'Watch',
    write: 'Write',
    apply: 'Server-side apply',
    kind: 'Your own kind',
    look: 'Look around',
  },
  examples: {
    'list-namespaces': {
      title: 'List namespaces',
      about:
        'Every kind of object has a collection. Any script of this page gets the same answer: try fetch("api/v1/namespaces") in the console of your browser.',
    },
    'get-namespace': {
      title: 'Get one object',
      about: 'An object is its collection plus its name.',
    },
    table: {
      title: 'List as a table',
      about:
        'The server itself makes the columns that kubectl get prints: ask for them with the Accept header.',
    },
    chunks: {
      title: 'List in chunks',
      about:
        'With limit the server gives a few items and a continue token for the rest, all as of the same moment.',
    },
    'metadata-only': {
      title: 'Metadata only',
      about:
        'PartialObjectMetadata leaves out spec and status. Controllers that need only labels and owners ask like this.',
    },
    watch: {
      title: 'Watch ConfigMaps',
      about:
        'The answer never ends: one event per change, the existing objects first. Open this page in a second tab and change something there.',
    },
    'watch-bookmarks': {
      title: 'Streaming list',
      about:
        'A list as a watch: the existing objects arrive as events, a bookmark marks where the list ends, then changes follow.',
    },
    create: {
      title: 'Create a ConfigMap',
      about:
        'POST to the collection. The server adds a uid, a resourceVersion, a creation time and managedFields.',
    },
    'dry-run': {
      title: 'Dry run',
      about:
        'dryRun=All goes the whole way through defaults, admission and validation, and stores nothing.',
    },
    'merge-patch': {
      title: 'Merge patch',
      about: 'Sends only what changes; null removes a key. Lists are replaced as a whole.',
    },
    'json-patch': {
      title: 'JSON patch',
      about: 'A list of operations. The test makes it fail when somebody else was quicker.',
    },
    'strategic-patch': {
      title: 'Strategic merge',
      about:
        'Knows the type: containers are merged by name instead of replaced. Run "Apply a Deployment" first.',
    },
    strict: {
      title: 'An unknown field',
      about: 'fieldValidation=Strict refuses what would otherwise be dropped with a warning.',
    },
    delete: {
      title: 'Delete',
      about: 'The answer is a Status, or the object while finalizers hold it.',
    },
    apply: {
      title: 'Apply a Deployment',
      about:
        'You send the fields you care about, and the server remembers that they are yours: see managedFields in the answer.',
    },
    'apply-conflict': {
      title: 'A conflict',
      about:
        'bob wants other replicas than alice. The server answers 409 and names the owner instead of letting the last one win.',
    },
    'apply-force': {
      title: 'Take it over',
      about:
        'force=true makes bob the owner of what was in conflict. alice is told the next time she applies.',
    },
    crd: {
      title: 'Define Boat, with a rule',
      about:
        'A CustomResourceDefinition adds a kind to the API. Its CEL rule is checked by the server on every write.',
    },
    'crd-refused': {
      title: 'Break the rule',
      about: 'Three people, two berths: 422, with the message of the rule.',
    },
    'crd-create': {
      title: 'Keep the rule',
      about: 'Two people, two berths: created.',
    },
    'crd-table': {
      title: 'List boats as a table',
      about: 'The columns are those the definition asked for.',
    },
    discovery: {
      title: 'Discovery',
      about: 'Every group, version and resource in one answer: what kubectl api-resources prints.',
    },
    openapi: {
      title: 'OpenAPI',
      about:
        'One document per group and version. The first request for a document makes it, which takes a moment.',
    },
    version: {
      title: 'Version',
      about: 'Which server this is.',
    },
    health: {
      title: 'Health',
      about: 'Every check by name. Leave some out with exclude.',
    },
    'can-i': {
      title: 'May I?',
      about:
        'A review is created, answered in its status, and not stored. This is kubectl auth can-i.',
    },
  },
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.examples);
