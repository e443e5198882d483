import { createHash } from 'node:crypto';
import {
  type BodyStream,
  isBodyStream,
  type RequestToSign,
  Secret,
  type Signer,
} from '../../../core/contract/index.js';
import type { CallTarget, EndpointRequest, SendRequest } from './send-request.js';

/** Headers whose values must not appear elsewhere. */
const SENSITIVE = /auth|token|sign|secret|key|cookie/;

/** Sends requests with the headers of a signer, which signs each attempt. */
export function sendSigned(signer: Signer, send: SendRequest): SendRequest {
  return async (replica, request, limits) => {
    const signed = await signer.sign(describeRequest(replica, request));
    const outcome = await send(
      replica,
      { ...request, headers: { ...request.headers, ...signed } },
      limits,
    );
    return { ...outcome, secrets: listSecrets(signed) };
  };
}

function describeRequest(
  { url }: CallTarget,
  { method, target, headers, body }: EndpointRequest,
): RequestToSign {
  const visibleHeaders = Object.entries(headers).filter(([name]) => name !== 'content-length');
  return {
    method,
    url: url + target,
    headers: new Map(visibleHeaders),
    bodySha256: hashBody(body),
  };
}

function hashBody(body: Uint8Array | BodyStream | null): string | null {
  if (body !== null && isBodyStream(body)) return null;
  return createHash('sha256')
    .update(body ?? new Uint8Array())
    .digest('hex');
}

function listSecrets(signed: Readonly<Record<string, string>>): Secret[] {
  return Object.entries(signed).flatMap(([name, value]) =>
    SENSITIVE.test(name) && value !== '' ? new Secret(value) : [],
  );
}
