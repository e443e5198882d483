import type { Invocation, ProviderOperation } from '../../core/contract/index.js';
import { createRouteHeaders } from '../shared/route-message.js';

/** The last token of the subject of a request: `<subject>.<operation>`. */
export type RequestKind = ProviderOperation['kind'] | 'manifest' | 'check';

export interface NatsRequest {
  readonly kind: RequestKind;
  /** Lower-case names. */
  readonly headers: Readonly<Record<string, string>>;
  readonly payload: Uint8Array;
}

export const EMPTY = new Uint8Array();

/** Maps an invocation to a NATS message; docs/operate/kinds/nats.md describes the mapping. */
export function createNatsRequest({ operation, headers }: Invocation): NatsRequest {
  const { kind } = operation;
  switch (operation.kind) {
    case 'http_route': {
      const { body } = operation;
      const sent = { ...headers, ...createRouteHeaders(operation) };
      return { kind, headers: sent, payload: body ?? EMPTY };
    }
    case 'admin_list': {
      const { entity, limit, cursor } = operation;
      return { kind, headers: withJson(headers), payload: encodeJson({ entity, limit, cursor }) };
    }
    case 'admin_action': {
      // A name may contain characters that a header cannot.
      const action = encodeURIComponent(operation.action.toWellFormed());
      const sent = { ...withJson(headers), 'modgate-action': action };
      return { kind, headers: sent, payload: operation.inputJson };
    }
    case 'configure': {
      const { revision, values } = operation;
      return { kind, headers: withJson(headers), payload: encodeJson({ revision, values }) };
    }
  }
}

function withJson(headers: Readonly<Record<string, string>>): Record<string, string> {
  return { ...headers, 'content-type': 'application/json' };
}

function encodeJson(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}
