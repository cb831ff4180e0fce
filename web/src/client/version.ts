import type { ProtocolVersion } from '../protocol';

/** The one protocol version this build speaks. */
export const PROTOCOL: ProtocolVersion = 6;
