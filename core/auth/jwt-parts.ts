import { decodeUtf8 } from '../lib/decode-utf8.js';
import { MAX_TOKEN_LENGTH } from './actor-syntax.js';
import type { Claims } from './map-claims.js';
import { parsePlainObject } from './strict-json.js';

/** What a token says of itself. None of it is to be trusted before the signature is verified. */
export interface JwtParts {
  readonly algorithm: string;
  readonly issuer: string;
}

/** A JWS in the compact form (RFC 7515 7.1); a JWE has five parts. */
const COMPACT = /^([A-Za-z0-9_-]+)\.([A-Za-z0-9_-]+)\.[A-Za-z0-9_-]+$/;

/**
 * Headers that tell where to find a key, or how to read on (RFC 7515 4.1, RFC 7797, RFC 7516): whoever
 * makes a token must not choose either. `cty` announces a token within a token.
 */
const REFUSED_HEADERS = ['jku', 'jwk', 'x5u', 'x5c', 'crit', 'b64', 'cty', 'zip', 'enc'] as const;

/** Access tokens and plain ones; a logout token, or a DPoP proof, is signed by the same keys. */
const TYPES: ReadonlySet<unknown> = new Set([undefined, 'jwt', 'at+jwt', 'application/at+jwt']);

const MAX_KEY_ID_LENGTH = 256;

/** Reads the parts that decide who is to verify; `null` for what no issuer of ours would sign. */
export function readJwtParts(token: string): JwtParts | null {
  if (token.length > MAX_TOKEN_LENGTH) return null;
  const [, first = '', second = ''] = COMPACT.exec(token) ?? [];
  const header = first === '' ? undefined : decodeObject(first);
  if (header === undefined || !isPlainHeader(header)) return null;
  const payload = decodeObject(second);
  const algorithm = header['alg'];
  const issuer = payload?.['iss'];
  if (typeof algorithm !== 'string' || typeof issuer !== 'string') return null;
  return { algorithm, issuer };
}

function decodeObject(part: string): Claims | undefined {
  const text = decodeUtf8(Buffer.from(part, 'base64url'));
  return text === null ? undefined : parsePlainObject(text);
}

function isPlainHeader(header: Claims): boolean {
  if (REFUSED_HEADERS.some((name) => Object.hasOwn(header, name))) return false;
  const { typ, kid } = header as { typ?: unknown; kid?: unknown };
  if (!TYPES.has(typeof typ === 'string' ? typ.toLowerCase() : typ)) return false;
  return kid === undefined || (typeof kid === 'string' && kid.length <= MAX_KEY_ID_LENGTH);
}
