import { isProviderFailure, ProviderFailure, type Secret } from '../contract/index.js';
import { maskSecrets } from '../lib/secrets/mask-secrets.js';

/**
 * Removes the host's credentials from a failure: a provider can repeat them in a header, and
 * failures are logged, recorded and shown. Other errors are returned unchanged.
 */
export function maskFailure<E>(error: E, secrets: readonly Secret[]): E | ProviderFailure {
  if (!isProviderFailure(error) || secrets.length === 0) return error;
  const { failure, status, phase, message, detail } = error;
  const values = secrets.map((secret) => secret.reveal());
  const mask = (text: unknown) => (typeof text === 'string' ? maskSecrets(text, values) : '');
  const masked = { message: mask(message), detail: mask(detail) };
  const isClean = masked.message === message && (masked.detail === detail || detail === undefined);
  if (isClean) return error;
  // Omits the cause, which has the same text.
  return new ProviderFailure(failure, masked.message, {
    ...(status !== null && { status }),
    phase,
    detail: masked.detail || masked.message,
  });
}
