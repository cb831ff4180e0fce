/** A browser as these tests need it: what WebDriver and WebDriver BiDi have in common. */
export interface Browser {
  open(url: string): Promise<Tab>;
  close(): Promise<void>;
}

export interface Tab {
  open(url: string): Promise<void>;
  close(): Promise<void>;
  /**
   * @param script the body of an async function in the page
   * @returns what it returns, as JSON
   */
  run<T>(script: string): Promise<T>;
  /** Types into the terminal. A line ends with `\n`. */
  type(keys: string): Promise<void>;
}
