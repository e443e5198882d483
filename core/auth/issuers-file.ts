import { dirname } from 'node:path';
import {
  array,
  define,
  dynamic,
  enums,
  type Infer,
  nonempty,
  object,
  optional,
  record,
  refine,
  size,
} from 'superstruct';
import type { AnyStruct } from '../contract/described.js';
import { matching } from '../contract/described.js';
import { ACTOR_KINDS, type Secret, secretReference } from '../contract/index.js';
import { isLoopbackUrl } from '../contract/loopback.js';
import { wholeNumber } from '../contract/whole-number.js';
import { InvalidFile } from '../document/diagnostic.js';
import { assertDistinct, parseByStruct } from '../document/parse-file.js';
import { listReferencedFiles, resolveReferences } from '../document/references.js';
import { nonEmptyText } from '../document/structs.js';
import { MAX_TOKEN_LENGTH, scope, tokenId } from './actor-syntax.js';
import { roleName } from './role-table.js';

/**
 * Asymmetric algorithms only: with a symmetric one, an issuer's public key could be used as the shared
 * secret.
 */
const SIGNATURE_ALGORITHMS = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
] as const;

/** Wire names; seconds. The bounds detect a wrong unit. */
export const ISSUER_DEFAULTS = {
  clock_skew_seconds: 30,
  max_age_seconds: 86_400,
  cooldown_seconds: 30,
  refresh_seconds: 600,
  /** The default is also the maximum: it bounds how long a revoked token is accepted. */
  cache_seconds: 60,
  audience_claim: 'aud',
  scopes: ['scope', 'scp', 'permissions'],
} as const;

const ONE_DAY_SECONDS = 86_400;

const plainUrl = define<string>(
  'an https URL without credentials (http only for a loopback host)',
  isTrustedUrl,
);

const texts = (struct: AnyStruct) =>
  dynamic<string | string[]>(
    (value): AnyStruct => (Array.isArray(value) ? nonempty(array(struct)) : struct),
  );

/** A name, or the steps to a claim whose names have dots. */
const claim = texts(nonEmptyText());

export type ClaimName = string | readonly string[];
const kind = enums(ACTOR_KINDS);

const kindFromClaim = object({
  claim,
  values: record(nonEmptyText(), kind),
  default: optional(kind),
});

/** The mapping from claims to an actor. */
const actor = object({
  kind: dynamic<Infer<typeof kind> | Infer<typeof kindFromClaim>>(
    (value): AnyStruct => (typeof value === 'object' && value !== null ? kindFromClaim : kind),
  ),
  id: optional(claim),
  id_prefix: optional(matching('letters, digits or ._@-, at most 64', /^[A-Za-z0-9._@-]{1,64}$/)),
  scopes: optional(array(claim)),
  allowed_scopes: optional(array(scope)),
  roles: optional(array(claim)),
  /** Maps the issuer's names to role names; names that it does not list are ignored. */
  role_values: optional(record(nonEmptyText(), roleName)),
  allowed_roles: optional(array(roleName)),
});

export type ActorMapping = Infer<typeof actor>;

const MAX_TOKEN_ENDPOINTS = 16;

/** The endpoints that may receive tokens of the issuer, to exchange them. */
const tokenEndpoints = size(array(plainUrl), 1, MAX_TOKEN_ENDPOINTS);

const jwks = refine(
  object({
    url: optional(plainUrl),
    file: optional(nonEmptyText()),
    cooldown_seconds: optional(wholeNumber(1, 3600)),
    refresh_seconds: optional(wholeNumber(1, ONE_DAY_SECONDS)),
  }),
  "exactly one of 'url' and 'file'",
  ({ url, file }) => (url === undefined) !== (file === undefined),
);

export type JwksSource = Infer<typeof jwks>;

const issuer = object({
  issuer: nonEmptyText(),
  audience: texts(nonEmptyText()) as AnyStruct,
  audience_claim: optional(claim),
  algorithms: nonempty(array(enums(SIGNATURE_ALGORITHMS))),
  jwks,
  clock_skew_seconds: optional(wholeNumber(0, 300)),
  max_age_seconds: optional(wholeNumber(1, 30 * ONE_DAY_SECONDS)),
  token_endpoints: optional(tokenEndpoints),
  actor,
});

const tokenFormat = refine(
  object({
    prefix: optional(matching('1 to 64 characters of a token', /^[A-Za-z0-9._~+/-]{1,64}$/)),
    min_length: optional(wholeNumber(1, MAX_TOKEN_LENGTH)),
    max_length: optional(wholeNumber(1, MAX_TOKEN_LENGTH)),
  }),
  "'min_length' not above 'max_length'",
  ({ min_length: min = 1, max_length: max = MAX_TOKEN_LENGTH }) => min <= max,
);

const introspectionEntry = object({
  name: tokenId,
  url: plainUrl,
  client_id: nonEmptyText(),
  client_secret: secretReference(),
  client_auth: optional(enums(['basic', 'post'])),
  issuer: optional(nonEmptyText()),
  audience: optional(texts(nonEmptyText()) as AnyStruct),
  audience_claim: optional(claim),
  cache_seconds: optional(wholeNumber(0, 60)),
  /** Tokens of another format are rejected without a request to the issuer. */
  token_format: optional(tokenFormat),
  token_endpoints: optional(tokenEndpoints),
  actor,
});

const introspection = refine(
  introspectionEntry,
  "'audience_claim' with 'audience' alone",
  ({ audience, audience_claim: name }) => name === undefined || audience !== undefined,
);

const ISSUERS_FILE = object({
  issuers: optional(array(issuer)),
  introspection: optional(array(introspection)),
});

export interface IssuerConfig extends Omit<Infer<typeof issuer>, 'audience'> {
  readonly audience: string | string[];
}

export interface IntrospectionConfig extends Omit<Infer<typeof introspectionEntry>, 'audience'> {
  readonly audience?: string | string[];
}

export interface IssuersFile {
  readonly issuers: readonly IssuerConfig[];
  readonly introspection: readonly IntrospectionConfig[];
  /** Resolves the reference of a `client_secret`. */
  secret(reference: string): Secret;
  /** Relative paths start here. */
  readonly baseDir: string;
}

/**
 * Parses `{issuers: […], introspection: […]}`, JSON or YAML by the file name, and resolves its secrets.
 * @throws InvalidFile with the position of each violation.
 */
export async function parseIssuersFile(
  file: string,
  content: string,
  environment: Readonly<Record<string, string | undefined>>,
): Promise<IssuersFile> {
  const { value, written, source } = parseByStruct(file, content, ISSUERS_FILE);
  const { issuers = [], introspection = [] } = value as {
    issuers?: IssuerConfig[];
    introspection?: IntrospectionConfig[];
  };
  assertDistinct(
    issuers.map(({ issuer }) => issuer),
    source,
    {
      rule: 'duplicate-issuer',
      message: 'two entries have the same issuer',
      hint: 'name several audiences in one entry',
      list: 'issuers',
      member: ['issuer'],
    },
  );
  const baseDir = dirname(file);
  const references = await resolveReferences({
    struct: ISSUERS_FILE,
    config: written,
    baseDir,
    env: environment,
    source: { ...source, prefix: [] },
  });
  return { issuers, introspection, secret: (name) => references.secret(name), baseDir };
}

/** The files with the secrets of an issuers file; none for an invalid one. */
export function listSecretFiles(file: string, text: string): readonly string[] {
  try {
    const { written } = parseByStruct(file, text, ISSUERS_FILE);
    return listReferencedFiles(ISSUERS_FILE, written, dirname(file));
  } catch (error) {
    if (error instanceof InvalidFile) return [];
    throw error;
  }
}

/**
 * The endpoints that exchange tokens of an issuer: `null` for those that discovery names;
 * `undefined` for an issuer that the file does not have. The issuer of an entry for introspection
 * is its name if it has no `issuer`.
 */
export function findTokenEndpoints(
  { issuers, introspection }: Pick<IssuersFile, 'issuers' | 'introspection'>,
  issuer: string,
): readonly string[] | null | undefined {
  const entries = [
    ...issuers.filter((entry) => entry.issuer === issuer),
    ...introspection.filter((entry) => (entry.issuer ?? entry.name) === issuer),
  ];
  if (entries.length === 0) return undefined;
  const tokenEndpoints = entries.flatMap(({ token_endpoints: endpoints = [] }) => endpoints);
  return tokenEndpoints.length === 0 ? null : tokenEndpoints;
}

/** Rejects plain HTTP, because anyone on the path could replace the keys. */
function isTrustedUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value) || !URL.canParse(value))
    return false;
  const url = new URL(value);
  if (url.username !== '' || url.password !== '') return false;
  return url.protocol === 'https:' || isLoopbackUrl(url);
}
