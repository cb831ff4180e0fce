/** One line of the palette: something to go to, or to do. */
export interface PaletteCommand {
  /** Unlike that of any other line. */
  readonly id: string;
  /** What is the same in every language: a name of the API, of a file or of a language. */
  readonly names?: 'label' | 'label and group';
  readonly label: string;
  /** What it is: a kind, "Files", "Identity". */
  readonly group: string;
  /** Where it is: a namespace. */
  readonly place?: string;
  /** Further words by which it is found. */
  readonly keywords?: string;
  /** More or less likely to be meant than others that fit as well: 0 for most. */
  readonly weight?: number;
  readonly run: () => void;
}
