import { array, define, enums, type Infer, object, optional } from 'superstruct';
import { ACTOR_KINDS, type Actor } from '../contract/index.js';
import { assertDistinct, parseByStruct } from '../document/parse-file.js';
import { isDay } from '../lib/parse-time.js';
import { scope, sha256, tokenId } from './actor-syntax.js';
import { roleName } from './role-table.js';

/** The actors by the SHA-256 of the token, in lower-case hex. */
export type TokenTable = ReadonlyMap<string, Actor>;

const ISO_8601_WITH_ZONE =
  /^(\d{4}-\d\d-\d\d)T\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:\d\d)$/;

const TOKEN_FILE = object({
  tokens: array(
    object({
      id: tokenId,
      kind: enums(ACTOR_KINDS),
      scopes: array(scope),
      roles: optional(array(roleName)),
      sha256,
      expires_at: optional(define<string>('a date and time with a zone, in ISO 8601', isInstant)),
    }),
  ),
});

/** A token as the file has it. */
export type TokenFileEntry = Infer<typeof TOKEN_FILE>['tokens'][number];

function isInstant(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  const date = ISO_8601_WITH_ZONE.exec(value)?.[1];
  return date !== undefined && isDay(date) && !Number.isNaN(Date.parse(value));
}

/**
 * Parses `{tokens: [{id, kind, scopes, roles?, sha256, expires_at?}]}`, JSON or YAML by the file name.
 * @throws InvalidFile with the position of each violation.
 */
export function parseTokenFile(file: string, content: string): TokenTable {
  const { value, source } = parseByStruct(file, content, TOKEN_FILE);
  const { tokens } = value;
  assertDistinct(
    tokens.map((token) => token.sha256),
    source,
    {
      rule: 'duplicate-token',
      message: 'two entries have the same sha256: a token stands for one actor',
      hint: null,
      list: 'tokens',
      member: ['sha256'],
    },
  );
  return new Map(tokens.map((token) => [token.sha256, createActor(token)]));
}

function createActor(token: TokenFileEntry): Actor {
  return {
    kind: token.kind,
    id: token.id,
    scopes: new Set(token.scopes),
    ...(token.roles !== undefined && { roles: token.roles }),
    ...(token.expires_at !== undefined && { expiresAt: Date.parse(token.expires_at) }),
  };
}
