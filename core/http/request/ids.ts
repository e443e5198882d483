import { randomUUID } from 'node:crypto';
import type { CallerHeaders } from './headers.js';

export interface RequestIds {
  readonly requestId: string;
  readonly correlationId: string;
}

/** An id that a client may choose. */
const CLIENT_ID = /^[A-Za-z0-9._:-]{1,128}$/;

export function readRequestId(headers: CallerHeaders): string {
  return readClientId(headers.get('x-request-id')) ?? createRequestId();
}

export function readCorrelationId(headers: CallerHeaders): string {
  return readClientId(headers.get('x-correlation-id')) ?? createCorrelationId();
}

export function createIds(): RequestIds {
  return { requestId: createRequestId(), correlationId: createCorrelationId() };
}

function createRequestId(): string {
  return `req_${randomUUID()}`;
}

function createCorrelationId(): string {
  return `corr_${randomUUID()}`;
}

/** `null` for an id that is absent or malformed. */
function readClientId(id: string | undefined): string | null {
  return id !== undefined && CLIENT_ID.test(id) ? id : null;
}
