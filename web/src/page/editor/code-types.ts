export type Language = 'json' | 'yaml' | 'javascript' | 'text';

/** Something said about a line, in a column of its own on the left; the class gives it a colour. */
export interface LineNote {
  readonly text: string;
  readonly className: string;
}

export interface CodeOptions {
  readonly text: string;
  readonly language: Language;
  readonly readOnly: boolean;
  /** Name for screen readers. */
  readonly label: string;
  /** By line, counted from 1. Only of a viewer. */
  readonly notes?: ReadonlyMap<number, LineNote>;
  readonly onChange?: (text: string) => void;
  /** What `leave` of an editor of the same text has given: undo goes on from there. */
  readonly earlier?: unknown;
}

export interface CodeEditor {
  setText(text: string, language: Language, notes?: ReadonlyMap<number, LineNote>): void;
  /** Another name for screen readers: the language has changed. */
  rename(label: string): void;
  focus(): void;
  destroy(): void;
  /** Text, selection and history, for `earlier`; to be called before `destroy`. */
  leave(): unknown;
}
