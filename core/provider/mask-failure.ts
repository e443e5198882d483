import { isProviderFailure, ProviderFailure, type Secret } from '../contract/index.js';
import { createSecretMask, joinMasks, type Mask } from '../lib/secrets/mask-secrets.js';

/**
 * Creates the mask of everything that quotes a provider: it removes the credentials of the host and
 * those of the caller, which a provider can repeat.
 * @param call the call whose caller has credentials; `null` for one of the host itself
 */
export function createMask(
  secrets: readonly Secret[],
  call: { readonly mask?: Mask } | null = null,
): Mask {
  const mask = createSecretMask(secrets.map((secret) => secret.reveal()));
  return joinMasks(mask, (text) => call?.mask?.(text) ?? text);
}

/**
 * Removes credentials from a failure, because failures are logged, recorded and shown. Other errors
 * are returned unchanged.
 */
export function maskFailure<E>(error: E, mask: Mask): E | ProviderFailure {
  if (!isProviderFailure(error)) return error;
  const { failure, status, phase, message, detail } = error;
  const maskText = (text: unknown) => (typeof text === 'string' ? mask(text) : '');
  const masked = { message: maskText(message), detail: maskText(detail) };
  const isClean = masked.message === message && (masked.detail === detail || detail === undefined);
  if (isClean) return error;
  // Omits the cause, which has the same text.
  return new ProviderFailure(failure, masked.message, {
    ...(status !== null && { status }),
    phase,
    detail: masked.detail || masked.message,
  });
}
