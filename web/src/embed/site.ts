/* embed-client.js, which embed.js loads when something is to run. */
export { pack } from '../page/share/link';
export { start } from './client';
