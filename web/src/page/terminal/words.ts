import { catalogue } from '../language/language';

/** The sentences of the terminal. */
export const english = {
  label: 'Terminal. Shift+Tab leaves it.',
  title: 'Terminal',
  loading: 'Loading the terminal',
  waiting: 'The API server is starting. What you type runs when it is ready.',
  noEngine: 'There is no way to the engine.',
  left: 'The shell has ended. Here is another one.',
  lost: 'The engine has ended. Another shell starts with it.',
  keys: 'Keys',
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.terminal);
