import { IncomingMessage } from 'node:http';
import { HostError } from '../../errors.js';
import {
  HANDSHAKE_KEY,
  HANDSHAKE_VERSION,
  parseSubprotocols,
} from '../../lib/websocket/handshake.js';
import { type Handshake, OWN_PROTOCOL } from '../../operations/websocket/handshake.js';

/** The parser's own value; accessed through `upgrade`. */
const isUpgrade = Symbol('isUpgrade');

/**
 * A request that is an upgrade only if it is a well-formed WebSocket handshake. Node parses every
 * other request as if nothing listened for upgrades: `upgrade: h2c` with a body, and invalid
 * handshakes. Node 20 has no other way to decide by request; a test fails when Node stops reading
 * this member.
 */
export class HandshakeAwareRequest extends IncomingMessage {
  declare [isUpgrade]: boolean | null;

  get upgrade(): boolean | null {
    // CONNECT is also an upgrade.
    return this[isUpgrade] === true && (this.method === 'CONNECT' || isWellFormed(this));
  }

  set upgrade(value: boolean | null) {
    this[isUpgrade] = value;
  }
}

function isWellFormed({ method, httpVersion, headers }: IncomingMessage): boolean {
  return (
    method === 'GET' &&
    httpVersion === '1.1' &&
    headers.upgrade?.toLowerCase() === 'websocket' &&
    headers['sec-websocket-version'] === HANDSHAKE_VERSION &&
    HANDSHAKE_KEY.test(headers['sec-websocket-key'] ?? '') &&
    headers['transfer-encoding'] === undefined &&
    (headers['content-length'] ?? '0') === '0'
  );
}

/** Ignores case, so that no spelling of a credential reaches a provider. */
const OF_HOST = /^modgate\./i;
const CREDENTIAL = /^modgate\.bearer\./i;
const BASE64URL = /^[A-Za-z0-9_-]+$/;
const VISIBLE_TEXT = /^[!-~]+$/;

const handshakes = new WeakMap<IncomingMessage, Handshake>();

/** Returns `null` for a request that is not a handshake. */
export function findHandshake(request: IncomingMessage): Handshake | null {
  return handshakes.get(request) ?? null;
}

/**
 * Reads the offers of a handshake. A token among its subprotocols becomes the `authorization` of
 * the request, so that credentials are handled in one way.
 */
export function readHandshake(request: IncomingMessage): void {
  const { headers, rawHeaders } = request;
  const offer = headers['sec-websocket-protocol'];
  const offered = (offer ?? '').split(',').map((name) => name.trim());
  const credentials = offered.filter((name) => CREDENTIAL.test(name));
  const others = offered.filter((name) => !OF_HOST.test(name)).join(',');
  const protocols = parseSubprotocols(others === '' ? undefined : others);
  const takesOwn = offered.includes(OWN_PROTOCOL);
  handshakes.set(request, {
    key: headers['sec-websocket-key'] ?? '',
    protocols: protocols ?? [],
    takesOwn,
    extensions: headers['sec-websocket-extensions'],
    problem: protocols === null ? createProtocolError('expected a list of different tokens') : null,
  });
  if (protocols !== undefined) replaceHeader(request, 'sec-websocket-protocol', others);
  if (credentials.length === 0) return;
  const [credential = ''] = credentials;
  const value = `Bearer ${decodeToken(credential)}`.trimEnd();
  rawHeaders.push('authorization', value);
  headers.authorization ??= value;
  const rejection =
    credentials.length > 1
      ? createProtocolError('more than one modgate.bearer')
      : takesOwn
        ? null
        : createProtocolError(`a modgate.bearer needs ${OWN_PROTOCOL} beside it`);
  if (rejection !== null) rejections.set(request, rejection);
}

const rejections = new WeakMap<IncomingMessage, HostError>();

/** @throws HostError 400 for invalid credentials among the subprotocols. */
export function assertCredentialProtocols(request: IncomingMessage): void {
  const rejection = rejections.get(request);
  if (rejection !== undefined) throw rejection;
}

/** Returns an empty text for an invalid token, which is then an invalid `authorization`. */
function decodeToken(protocol: string): string {
  const encoded = protocol.replace(CREDENTIAL, '');
  const token = BASE64URL.test(encoded) ? Buffer.from(encoded, 'base64url').toString('latin1') : '';
  const isExact = Buffer.from(token, 'latin1').toString('base64url') === encoded;
  return isExact && VISIBLE_TEXT.test(token) ? token : '';
}

/** @param value an empty text removes the header */
function replaceHeader({ headers, rawHeaders }: IncomingMessage, name: string, value: string) {
  for (let index = rawHeaders.length - 2; index >= 0; index -= 2) {
    if (rawHeaders[index]?.toLowerCase() === name) rawHeaders.splice(index, 2);
  }
  delete headers[name];
  if (value === '') return;
  headers[name] = value;
  rawHeaders.push(name, value);
}

function createProtocolError(reason: string): HostError {
  return new HostError('validation_failed', 'the subprotocols of the handshake are not valid', {
    errors: [{ field: 'sec-websocket-protocol', reason }],
    nextActions: ['send modgate.v1, at most one modgate.bearer.<token in base64url>, and your own'],
    headers: { connection: 'close' },
  });
}
