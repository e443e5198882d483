import { StoreUnavailable } from './store-unavailable.js';

/**
 * Parses JSON text of the database, which may have been damaged by hand.
 * @param subject what the text is: `the verdict of 'sha256:…'`
 * @throws StoreUnavailable `unreadable`, without a cause: the message of a SyntaxError quotes the
 * text, which may be secret.
 */
export function parseStored(text: string, subject: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StoreUnavailable('unreadable', { message: `${subject} is not JSON` });
  }
}
