import type { AMQPProperties } from '@cloudamqp/amqp-client';
import {
  BodyPieces,
  type BodyStream,
  type HttpRouteOperation,
  type Invocation,
  ProviderFailure,
  type ProviderRoute,
} from '../../core/contract/index.js';
import { createRouteHeaders } from '../shared/transport.js';

export const EMPTY = new Uint8Array();

/** A request without its correlation id and reply address. */
export interface AmqpRequest {
  readonly properties: AMQPProperties;
  readonly body: Uint8Array;
}

/** Maps a call to a message; docs/operate/kinds/amqp.md describes the mapping. */
export function createProperties(
  { id, headers }: Pick<Invocation, 'id' | 'headers'>,
  operation: HttpRouteOperation,
): AMQPProperties {
  const { 'content-type': contentType, ...others } = headers;
  const deadlineMs = Number(headers['modgate-deadline-ms']);
  return {
    headers: {
      ...others,
      ...createRouteHeaders(operation),
      // The expiration counts only while the message is in the queue.
      'modgate-sent-at': String(Date.now()),
    },
    messageId: id,
    ...(contentType !== undefined && { contentType }),
    ...(Number.isSafeInteger(deadlineMs) && { expiration: String(Math.max(1, deadlineMs)) }),
  };
}

/** The types of answers that name none: octets on routes of bytes, JSON on all others. */
export class DefaultTypes {
  #byteRoutes: ReadonlySet<string> = new Set();

  useRoutes(routes: readonly ProviderRoute[]): void {
    this.#byteRoutes = new Set(
      routes
        .filter(({ declared }) => declared.operation?.response === 'bytes')
        .map(({ declared: { method, path } }) => `${method} ${path}`),
    );
  }

  of({ method, declaredPath }: HttpRouteOperation): string {
    const declared = method === 'HEAD' ? 'GET' : method;
    const isBytes = this.#byteRoutes.has(`${declared} ${declaredPath}`);
    return isBytes ? 'application/octet-stream' : 'application/json';
  }
}

/**
 * Reads a body that arrives in parts: a message has its whole body.
 * @throws ProviderFailure for a body that is too long for a message, or for the memory of its caller.
 */
export async function readBody(
  stream: BodyStream,
  maxBytes: number,
  invocation: Pick<Invocation, 'hold'>,
): Promise<Uint8Array> {
  const pieces = new BodyPieces();
  for await (const part of stream) {
    if (pieces.length + part.length > maxBytes) throw createLengthFailure(maxBytes);
    // The host releases them at the end of the call.
    invocation.hold?.(part.length);
    pieces.add(Buffer.from(part.buffer, part.byteOffset, part.length));
  }
  return pieces.join();
}

/** The failure of a request whose body no message may have. */
export function createLengthFailure(maxBytes: number): ProviderFailure {
  const message = `the request cannot be sent: its body is over ${maxBytes} bytes`;
  return new ProviderFailure('refused', message, { phase: 'connecting' });
}
