import { HOP_BY_HOP, REQUEST_IDS } from '../../lib/header-names.js';

/** The header of an event stream that ends by itself; see `Surface.fetch`. */
export const STREAM_HEADER = 'modgate-stream';

/** Headers of the connection or of the host. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...HOP_BY_HOP,
  ...REQUEST_IDS,
  'date',
  STREAM_HEADER,
]);

/** Whether a surface must not set the response header. @param name lower case */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name) || name.startsWith('proxy-');
}
