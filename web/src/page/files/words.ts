import { catalogue } from '../language/language';

export const english = {
  label: (path: string) => `Text of ${path}`,
  none: 'No file is open. Choose one from Files, make a new one, or drop files here.',
  newFile: 'New file',
  newName: 'manifest.yaml',
  close: (path: string) => `Close ${path}`,
  openFiles: 'Open files',
  apply: 'Apply',
  applyTitle: 'Server-side apply, field manager kubetab-editor (Ctrl Enter)',
  check: 'Check',
  checkTitle: 'Ask the API server what it would say, without keeping anything: dry run',
  diff: 'Diff',
  diffTitle: "Compare with what is in the cluster, after the server's own defaulting: dry run",
  delete: 'Delete',
  deleteTitle: 'Delete the objects that this file names',
  deleteAsk: (what: string) => `Delete from the cluster: ${what}?`,
  format: 'Format',
  waiting: 'This runs as soon as the API server is ready.',
  working: 'Asking the API server',
  closeOutcome: 'Close',
  outcome: 'What the API server said',
  results: {
    created: 'created',
    configured: 'configured',
    unchanged: 'unchanged',
    deleted: 'deleted',
    absent: 'was not there',
    valid: 'would be accepted',
    refused: 'refused',
    conflict: 'conflict',
    unread: 'cannot be read as an object',
    unknownKind: (kind: string, version: string) =>
      `The cluster has no kind ${kind} in ${version}. Is its CustomResourceDefinition applied?`,
    nameless: 'metadata.name is missing.',
    nothing: 'There is no object in this file.',
  },
  atLine: (line: number, file: string) => `Line ${line} in ${file}`,
  conflict: {
    what: 'Others own fields that this file wants to change:',
    force: 'Take them over',
    forceTitle:
      'Apply with force: the values of this file win, and the others own these fields no more',
    leave: 'Leave them',
    leaveTitle: 'Take these fields out of this file: the others keep them, you give up owning them',
    share: 'Agree',
    shareTitle:
      'Put the values of the cluster into this file: you and the others own these fields together',
  },
  noDifference: 'The cluster is as this file wants it.',
  isNew: 'This object is not in the cluster yet: all of it would be new.',
  required: 'required',
  oneOf: (values: string) => `One of: ${values}`,
  byDefault: (value: string) => `Default: ${value}`,
  rule: (rule: string, message: string) =>
    message ? `Rule: ${rule}\n${message}` : `Rule: ${rule}`,
  /** Types of the schema that are more than a word of OpenAPI. */
  types: {
    intOrString: 'integer or string',
    list: (of: string) => `list of ${of}`,
    map: (of: string) => `map of ${of}`,
    any: 'anything',
  },
  problems: {
    /** What the YAML parser says. */
    yaml: (message: string) => message,
    type: (type: string) => `This must be: ${type}.`,
    quote: (value: string) => `This must be a string. Put it in quotes: "${value}"`,
    unknown: (name: string, meant: string | null) =>
      meant
        ? `There is no field "${name}" here. Did you mean "${meant}"?`
        : `There is no field "${name}" here.`,
    missing: (name: string) => `"${name}" is required here.`,
    enum: (values: string) => `This must be one of: ${values}.`,
    least: (n: number) => `This must be at least ${n}.`,
    most: (n: number) => `This must be at most ${n}.`,
  },
  edit: {
    title: 'A command in the terminal waits for this file',
    save: 'Save',
    cancel: 'Leave it as it was',
  },
  samples: {
    deployment: 'Ctrl Enter applies this file.\nWatch the picture while you do.',
    boats:
      'A kind of your own, with a rule in CEL.\nApply it, then complete and hover in boat.yaml.',
  },
  files: {
    title: 'Files',
    list: 'Files of the workspace',
    all: 'All files ...',
    about:
      'They are kept in this browser, and the terminal sees them in its home folder. Drop files on the editor to add them.',
    new: 'New file',
    add: 'Add files',
    download: 'Download all',
    rename: 'Rename',
    remove: 'Remove',
    removed: (path: string) => `${path} was removed.`,
    undo: 'Undo',
    renameAsk: 'New name',
    badName: 'A name may have slashes between its parts, and none at its ends.',
    longName: 'This name is too long.',
    takenName: 'A file has this name already.',
    archive: 'kubetab-files.zip',
    trouble: (why: string) => `The files could not be kept: ${why}. They stay as long as this tab.`,
    tooLarge: (name: string) => `${name} is larger than 1 MB and was not added.`,
    binary: (name: string) => `${name} is not text and was not added.`,
  },
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.files);
