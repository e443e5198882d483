import { isDeepStrictEqual } from 'node:util';
import {
  FAILURE_CODES,
  type InvalidPart,
  isProviderFailure,
  ProviderFailure,
  type Secret,
} from '../contract/index.js';
import { isMapping } from '../lib/read-member.js';
import {
  joinMasks,
  type Mask,
  mayBeCut,
  shortenMasked,
  UNCHANGED,
} from '../lib/secrets/mask-secrets.js';
import { createLogMask } from '../lib/secrets/mask-thrown.js';

/** By the secrets of a module: each line of them has several forms. */
const ownMasks = new WeakMap<readonly Secret[], Mask>();

/**
 * Creates the mask of everything that quotes a provider: it removes the credentials of the host and
 * those of the caller, which a provider can repeat.
 * @param call the call whose caller has credentials; `null` for one of the host itself
 */
export function createMask(
  secrets: readonly Secret[],
  call: { readonly mask?: Mask } | null = null,
): Mask {
  const own = ownMasks.get(secrets) ?? createLogMask(secrets);
  ownMasks.set(secrets, own);
  return joinMasks(own, (text, isCut) => call?.mask?.(text, isCut) ?? text);
}

/**
 * Removes credentials from a failure, because failures are logged, recorded and shown. A code that
 * the contract does not have becomes `protocol`. Other errors are returned unchanged.
 */
export function maskFailure<E>(error: E, mask: Mask): E | ProviderFailure {
  if (!isProviderFailure(error)) return error;
  const { status, phase, message, detail } = error;
  const failure = FAILURE_CODES.includes(error.failure) ? error.failure : 'protocol';
  const retryAfterMs = readRetryAfterMs(error);
  // An adapter may have cut what it quotes.
  const maskText = (text: unknown) => (typeof text === 'string' ? mask(text, mayBeCut(text)) : '');
  const masked = { message: maskText(message), detail: maskText(detail) };
  const invalid = listInvalidParts(error, mask);
  const isClean =
    failure === error.failure &&
    masked.message === message &&
    (masked.detail === detail || detail === undefined);
  if (isClean && isDeepStrictEqual(invalid, listInvalidParts(error))) return error;
  // Omits the cause, which has the same text.
  return new ProviderFailure(failure, masked.message, {
    ...(status !== null && { status }),
    phase,
    detail: masked.detail || masked.message,
    invalid,
    ...(retryAfterMs !== null && { retryAfterMs }),
  });
}

const MAX_PARTS = 20;
const MAX_LENGTH = 200;

/**
 * The parts of the caller's request that an adapter, which is third-party code, cannot send; empty for a call that
 * failed for another reason.
 * @param mask applied before a text is cut, which would hide the start of a secret from it
 */
export function listInvalidParts(
  { failure, phase, invalid }: ProviderFailure,
  mask: Mask = UNCHANGED,
): InvalidPart[] {
  if (failure !== 'refused' || phase !== 'preparing') return [];
  // A plugin may have an older copy of the contract, without `invalid`.
  const parts: unknown = invalid;
  const shorten = (text: string) => shortenMasked(text, MAX_LENGTH, mask);
  return (Array.isArray(parts) ? parts.slice(0, MAX_PARTS) : []).flatMap((part: unknown) => {
    if (!isMapping(part)) return [];
    const { field, reason } = part;
    if (typeof field !== 'string' || typeof reason !== 'string') return [];
    return [{ field: shorten(field), reason: shorten(reason) }];
  });
}

/** When the provider may be called again, in milliseconds; `null` if it is not known. */
export function readRetryAfterMs({ failure, retryAfterMs }: ProviderFailure): number | null {
  const isTime = Number.isFinite(retryAfterMs) && (retryAfterMs ?? 0) > 0;
  return failure === 'unavailable' && isTime ? retryAfterMs : null;
}
