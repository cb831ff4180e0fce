import { beforeEach } from 'vitest';
import { takePictures } from './pictures';

// After a failure, what the pages looked like; of what an afterEach has closed by then, it takes them itself.

beforeEach(({ onTestFailed, task }) => {
  onTestFailed(() => takePictures(task));
});
