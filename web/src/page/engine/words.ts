import { catalogue } from '../language/language';

export const english = {
  /**
   * Translations of what the engine, its workers and the log of requests say about themselves in English. Only our own
   * sentences are translated. What these quote - a panic, an error of Kubernetes - stays as it is.
   */
  said: (text: string): string => text,
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.engine);
