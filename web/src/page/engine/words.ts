import { catalogue } from '../language/language';

export const english = {
  /**
   * What the engine, its workers and the log of requests say of themselves: it comes in English, and these are our own
   * sentences. What they quote - a panic, an error of Kubernetes - stays as it is.
   */
  said: (text: string): string => text,
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.engine);
