import { hash } from 'node:crypto';
import { HostError } from '../../errors.js';
import type { CallerRequest } from '../request.js';

const NO_BYTES = Buffer.alloc(0);

/**
 * Runs after the body policy and before the provider is called.
 * @param body what the provider gets; `null` for no body
 * @throws HostError 401 if the credentials cover another body.
 */
export function assertSignedBody(
  { bodySha256 }: Pick<CallerRequest, 'bodySha256'>,
  body: Uint8Array | null,
): void {
  if (bodySha256 === null || hash('sha256', body ?? NO_BYTES) === bodySha256) return;
  throw new HostError('unauthorized', 'the credentials are for another body', {
    errors: [{ field: 'body', reason: 'not the body that the credentials cover' }],
    nextActions: ['sign the bytes of the body that is sent'],
  });
}
