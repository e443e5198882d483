import { createHash } from 'node:crypto';
import { TOKEN } from '../token.js';

/** The suffix that both ends of a WebSocket hash with the key (RFC 6455, 1.3). */
const KEY_SUFFIX = '258EAFA5-E914-47DA-95CA-C5AB0DC85B11';

/** 16 bytes in base64. */
export const HANDSHAKE_KEY = /^[A-Za-z0-9+/]{21}[AQgw]==$/;

export const HANDSHAKE_VERSION = '13';

/** The value of `sec-websocket-accept` for a key. */
export function acceptKey(key: string): string {
  return createHash('sha1')
    .update(key + KEY_SUFFIX)
    .digest('base64');
}

const SUBPROTOCOL = new RegExp(`^${TOKEN}$`);
/** One extension; its parameters have values that are tokens, quoted or not (RFC 6455, 9.1). */
const EXTENSION = new RegExp(
  `^(${TOKEN})(?:[ \\t]*;[ \\t]*${TOKEN}(?:[ \\t]*=[ \\t]*(?:${TOKEN}|"${TOKEN}"))?)*$`,
);

/** The subprotocols of a header, in order; `null` for an invalid list or duplicates. */
export function parseSubprotocols(header: string | undefined): readonly string[] | null {
  if (header === undefined) return [];
  const names = splitList(header);
  if (new Set(names).size < names.length) return null;
  return names.every((name) => SUBPROTOCOL.test(name)) ? names : null;
}

/** The names of the extensions of a header, in lower case; `null` for an invalid list. */
export function parseExtensions(header: string | undefined): readonly string[] | null {
  if (header === undefined) return [];
  const names = splitList(header).map((extension) => EXTENSION.exec(extension)?.[1]?.toLowerCase());
  return names.every((name) => name !== undefined) ? names : null;
}

/** Splits at commas: values are tokens, even quoted, so that no comma is inside one. */
function splitList(header: string): string[] {
  return header.split(',').map((item) => item.trim());
}
