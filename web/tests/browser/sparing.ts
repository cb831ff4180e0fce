/** Whether what runs measures nothing, and may spare itself what a visitor's browser does: see vitest.config.ts. */
export const SPARING = process.env.KUBETAB_SPARING === '1';

/**
 * The files that make up the engine. Unpacking them takes a browser 0.3 s of a processor for each visit, which it has not to do
 * where they are sent as they are.
 */
export const LARGE = /\.(wasm|snapshot)$/;
