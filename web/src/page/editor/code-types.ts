export type Language = 'json' | 'yaml' | 'text';

export interface CodeOptions {
  readonly text: string;
  readonly language: Language;
  readonly readOnly: boolean;
  /** Name for screen readers. */
  readonly label: string;
  readonly onChange?: (text: string) => void;
}

export interface CodeEditor {
  setText(text: string, language: Language): void;
  focus(): void;
  destroy(): void;
}
