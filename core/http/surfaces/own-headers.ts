import { HOP_BY_HOP, REQUEST_IDS } from '../../lib/header-names.js';

/** They belong to the connection, or to the host. */
const OWN_HEADERS: ReadonlySet<string> = new Set([...HOP_BY_HOP, ...REQUEST_IDS, 'date']);

/** Whether a surface cannot set the header of a response. @param name lower case */
export function isOwnHeader(name: string): boolean {
  return OWN_HEADERS.has(name) || name.startsWith('proxy-');
}
