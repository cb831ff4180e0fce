import { catalogue } from '../language/language';

export const english = {
  run: 'Run',
  runTitle: 'Run this file in a worker of its own (Ctrl Enter)',
  again: 'Run again',
  againTitle: 'Stop it and run the file as it is now (Ctrl Enter)',
  stop: 'Stop',
  stopTitle: 'End the script and its requests, watches among them',
  phases: {
    waiting: 'waits for the API server',
    running: 'runs',
    ended: 'has ended',
    failed: 'ended with an error',
    stopped: 'was stopped',
  },
  output: (path: string) => `Output of ${path}`,
  clear: 'Clear the output',
  nothing: 'It has printed nothing yet. console.log shows its output here.',
  left: (count: number) => `${count} earlier or faster lines are not shown.`,
  atLine: (line: number, path: string) => `Line ${line} in ${path}`,
  noModule: 'This is no JavaScript that can be run.',
};

export type Words = typeof english;
export const words = catalogue(english, (chinese) => chinese.script);
