import type { ActorKind } from '../contract/index.js';
import { ACTOR_ID, SCOPE } from '../lib/actor-name.js';
import { readMember } from '../lib/read-member.js';
import { ACTOR_ID_RULE } from './actor-syntax.js';
import { type ActorMapping, type ClaimName, ISSUER_DEFAULTS } from './issuers-file.js';
import { createClaimError } from './rejected-token.js';
import type { AuthenticatedActor } from './roles.js';

export type Claims = Readonly<Record<string, unknown>>;

/** The claim with the id of an actor. */
export function nameIdClaim({ id = 'sub' }: ActorMapping): ClaimName {
  return id;
}

/** Some issuers write `null` for a claim that others leave out. */
export function dropNulls(claims: object): Claims {
  return Object.fromEntries(Object.entries(claims).filter(([, value]) => value !== null));
}

/**
 * Maps claims to an actor. Nothing is repaired: an invalid id or scope rejects the token, since a part of it
 * might mean something else.
 * @throws RejectedToken that names the claim, never its value.
 */
export function createActor(claims: Claims, mapping: ActorMapping): AuthenticatedActor {
  const { allowed_scopes: allowed } = mapping;
  const scopes = readScopes(claims, mapping.scopes ?? ISSUER_DEFAULTS.scopes);
  const roles = readRoles(claims, mapping);
  return {
    kind: readKind(claims, mapping.kind),
    id: readId(claims, nameIdClaim(mapping), mapping.id_prefix ?? ''),
    scopes: new Set(
      allowed === undefined ? scopes : scopes.filter((scope) => allowed.includes(scope)),
    ),
    ...(roles.length > 0 && { roles, ...(allowed !== undefined && { allowedScopes: allowed }) }),
  };
}

function readId(claims: Claims, name: ClaimName, prefix: string): string {
  const value = findClaim(claims, name);
  const id = typeof value === 'string' && value !== '' ? prefix + value : '';
  if (ACTOR_ID.test(id)) return id;
  throw createClaimError(formatClaimName(name), `must be text of ${ACTOR_ID_RULE}`);
}

function readKind(claims: Claims, kind: ActorMapping['kind']): ActorKind {
  if (typeof kind === 'string') return kind;
  const value = findClaim(claims, kind.claim);
  const mapped =
    typeof value === 'string' && Object.hasOwn(kind.values, value) ? kind.values[value] : undefined;
  const actorKind = mapped ?? kind.default;
  if (actorKind !== undefined) return actorKind;
  throw createClaimError(formatClaimName(kind.claim), 'does not map to a kind of actor');
}

function readScopes(claims: Claims, names: readonly ClaimName[]): string[] {
  return names.flatMap((name) => {
    const words = readWords(claims, name);
    if (words.every(isScope)) return words;
    throw createClaimError(
      formatClaimName(name),
      'must hold scopes of visible ASCII without a comma',
    );
  });
}

function isScope(value: unknown): value is string {
  return typeof value === 'string' && SCOPE.test(value);
}

/** Unlisted names and names of unknown roles are ignored: they belong to other services. */
function readRoles(
  claims: Claims,
  { roles: names = [], role_values: values, allowed_roles: allowed }: ActorMapping,
): string[] {
  const claimedRoles = names.flatMap((name) => {
    const words = readWords(claims, name);
    if (words.every((word) => typeof word === 'string')) return words;
    throw createClaimError(formatClaimName(name), 'must hold names of roles');
  });
  const roles =
    values === undefined
      ? claimedRoles
      : claimedRoles.flatMap((word) => (Object.hasOwn(values, word) ? (values[word] ?? []) : []));
  return allowed === undefined ? roles : roles.filter((role) => allowed.includes(role));
}

/**
 * The value is a string of words separated by spaces (RFC 6749, section 3.3), or a list. A missing
 * claim has no words.
 */
function readWords(claims: Claims, name: ClaimName): unknown[] {
  const value = findClaim(claims, name) ?? [];
  if (typeof value === 'string') return value.split(' ').filter((word) => word !== '');
  return Array.isArray(value) ? value : [value];
}

/**
 * Finds a claim by its full name, which may be a URL, otherwise by a dotted path
 * (`realm_access.roles`), or by the steps of a list (`['kubernetes.io', 'namespace']`).
 */
export function findClaim(claims: Claims, name: ClaimName): unknown {
  const isWhole = typeof name === 'string' && Object.hasOwn(claims, name);
  const steps = isWhole ? [name] : typeof name === 'string' ? name.split('.') : name;
  return steps.reduce<unknown>(readMember, claims);
}

export function formatClaimName(name: ClaimName): string {
  return typeof name === 'string' ? name : name.join('.');
}
