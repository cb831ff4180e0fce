import { beforeEach } from 'vitest';
import { takePictures, whyFailed } from './pictures';

// After a failure, what the pages looked like; of what an afterEach has closed by then, it takes them itself.

beforeEach(({ onTestFailed, task }) => {
  onTestFailed(() => takePictures(task.name, whyFailed(task)));
});
