/** Keys that nothing on the page had, for the terminal: it comes after the frame, and until then they wait for it. */
let waiting = '';
let type = (keys: string): void => {
  waiting += keys;
};

export function typeStray(keys: string): void {
  type(keys);
}

/** Has those that wait, and those to come, typed. */
export function takeStrayKeys(by: (keys: string) => void): void {
  type = by;
  if (waiting !== '') by(waiting);
  waiting = '';
}
