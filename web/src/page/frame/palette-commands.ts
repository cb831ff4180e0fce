/** One line of the palette. */
export interface PaletteCommand {
  readonly group: string;
  readonly label: string;
  /** Further words by which it is found. */
  readonly keywords?: string;
  readonly run: () => void;
}

/** Views that are loaded add what they know: kinds and objects, files. Asked at every key press. */
export const commandSources: (() => readonly PaletteCommand[])[] = [];
