import { chinese as cluster } from '../cluster/words.zh';
import { chinese as examples } from '../console/examples/example-words.zh';
import { chinese as console } from '../console/words.zh';
import { chinese as control } from '../control/words.zh';
import { chinese as editor } from '../editor/words.zh';
import { chinese as engine } from '../engine/words.zh';
import { chinese as files } from '../files/words.zh';
import { chinese as lessons } from '../lessons/words.zh';
import { chinese as picture } from '../picture/words.zh';
import { chinese as requests } from '../requests/words.zh';
import { chinese as script } from '../script/words.zh';
import { chinese as share } from '../share/words.zh';
import { chinese as terminal } from '../terminal/words.zh';
import { chinese as frame } from '../words.zh';

/** All that the page says in Chinese: one chunk. */
export const chinese = {
  cluster,
  console,
  control,
  editor,
  engine,
  examples,
  files,
  frame,
  lessons,
  picture,
  requests,
  script,
  share,
  terminal,
};

export type Chinese = typeof chinese;
