import type { EngineSettings } from '../../../protocol';

/** What the page knows of lessons: `tutorials/cmd/lessons` writes it, each lesson and language a file of its own. */

export interface Course {
  readonly parts: readonly Part[];
}

export interface Part {
  readonly id: string;
  readonly title: Both;
  readonly lessons: readonly Entry[];
}

/** A lesson as the map shows it. */
export interface Entry {
  /** `first/request`: its folder under tutorials/. */
  readonly id: string;
  readonly title: Both;
  readonly minutes: number;
}

/** A text that is short enough to travel in both languages. */
export interface Both {
  readonly en: string;
  readonly zh: string;
}

export type Block =
  | { readonly kind?: undefined; readonly html: string }
  | {
      readonly kind?: undefined;
      readonly language: string;
      readonly actions?: readonly string[];
      readonly file?: string;
      readonly text: string;
    }
  | Table;

/** Rows of a file of the lesson; cells are separated by " | ". */
export interface Table {
  readonly kind: 'table';
  readonly file: string;
  /** The heads of its columns. */
  readonly text: string;
}

export interface Check {
  readonly id: string;
  readonly title: string;
  /** The learner answers by a word, under this key of the ConfigMap `answers`. */
  readonly answer?: { readonly key: string };
}

export interface Hint {
  readonly id: string;
  readonly text: string;
}

/** A guess before a surprise. */
export interface Prediction {
  readonly question: string;
  readonly options: readonly { readonly text: string; readonly right?: boolean }[];
  readonly why: string;
}

export interface Step {
  readonly id: string;
  readonly title: string;
  readonly challenge?: boolean;
  /** What the engine is started again with in this step. */
  readonly engine?: EngineSettings | null;
  readonly blocks: readonly Block[];
  readonly checks: readonly Check[];
  readonly hints?: readonly Hint[];
  readonly predict?: Prediction;
  /** Command lines, run in the terminal one after another. */
  readonly solution: readonly string[];
}

export interface Lesson {
  readonly id: string;
  readonly title: string;
  readonly minutes: number;
  /** The one that the lesson plays in, and the terminal's default there. */
  readonly namespace: string;
  /** What its engine is started with when the lesson begins, beside the defaults. */
  readonly engine?: EngineSettings | null;
  readonly clock?: { readonly paused?: boolean } | null;
  /** The body of `PUT /kubetab/lesson`. */
  readonly lesson: Readonly<Record<string, unknown>>;
  /** What the workspace begins with. */
  readonly files?: Readonly<Record<string, string>>;
  /** What the solution's lines read. */
  readonly solutionFiles?: Readonly<Record<string, string>>;
  readonly intro: readonly Block[];
  readonly steps: readonly Step[];
}
