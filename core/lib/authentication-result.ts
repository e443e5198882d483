import { ACTOR_KINDS, type Actor, type ActorKind, CREDENTIAL_REASONS } from '../contract/index.js';
import { ACTOR_ID, SCOPE } from './actor-name.js';

const SHA256_HEX = /^[0-9a-f]{64}$/;

/**
 * What is wrong with the result of an authenticator, which is third-party code; `null` for an actor, with or without a
 * body digest, a known reason and `null`.
 * @returns continues the name of the authenticator
 */
export function findResultProblem(result: unknown): string | null {
  if (result === null) return null;
  const { actor, bodySha256, rejected } = Object(result) as Readonly<Record<string, unknown>>;
  if (isMember(result, 'rejected')) {
    const isKnown = CREDENTIAL_REASONS.some((reason) => reason === rejected);
    return isKnown ? null : 'rejected credentials with an unknown reason';
  }
  if (!isMember(result, 'actor')) return findActorProblem(result);
  const isDigest = typeof bodySha256 === 'string' && SHA256_HEX.test(bodySha256);
  return isDigest ? findActorProblem(actor) : "returned an invalid 'bodySha256'";
}

function findActorProblem(actor: unknown): string | null {
  const member = findInvalidMember((actor ?? {}) as Partial<Actor>);
  return member === null ? null : `returned an actor with an invalid '${member}'`;
}

function findInvalidMember({ kind, id, scopes, roles, expiresAt }: Partial<Actor>): string | null {
  if (!ACTOR_KINDS.includes(kind as ActorKind)) return 'kind';
  if (typeof id !== 'string' || !ACTOR_ID.test(id)) return 'id';
  if (!isSetOfScopes(scopes)) return 'scopes';
  if (roles !== undefined && !isListOfTexts(roles)) return 'roles';
  return expiresAt === undefined || Number.isFinite(expiresAt) ? null : 'expiresAt';
}

function isMember(value: unknown, name: string): boolean {
  return typeof value === 'object' && value !== null && name in value;
}

/** Without a copy of the set: it runs for each request. */
function isSetOfScopes(value: unknown): boolean {
  if (!(value instanceof Set)) return false;
  for (const scope of value) if (typeof scope !== 'string' || !SCOPE.test(scope)) return false;
  return true;
}

function isListOfTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((item) => typeof item === 'string');
}
