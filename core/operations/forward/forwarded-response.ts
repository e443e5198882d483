import { isPlainEnvelope } from '../../descriptor/expose-headers.js';
import type { LiveModule } from '../../modules/live-module.js';
import type { RouteSchemas } from '../../modules/route-schemas.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { ParseResponse } from '../../provider/provider-call.js';
import type { RequestFacts } from '../request.js';
import { enforceOutput } from './enforce-schemas.js';
import { createExposeHeaders, type ExposedHeaders } from './exposed-headers.js';
import { readResponseData } from './provider-response.js';
import { type RawResponse, readRawResponse } from './raw-response.js';

/** What callers get of a response of the provider. */
export type ForwardedResponse =
  | {
      readonly mode: 'envelope';
      /** JSON. */
      readonly data: readonly Uint8Array[];
      /** `null` where the descriptor exposes none. */
      readonly exposed: ExposedHeaders | null;
    }
  | { readonly mode: 'raw'; readonly raw: RawResponse; readonly exposed: ExposedHeaders };

type ReadResponse = ParseResponse<ForwardedResponse>;

/** A module is immutable, so its reader is created once. */
const readers = new WeakMap<LiveModule, ReadResponse>();

/**
 * How responses for the callers of a route are read.
 * @param credentialHeaders the request headers that credentials may come in; lower-case names
 * @param schemas of the route; `null`: the response is not checked
 */
export function createResponseReader(
  module: LiveModule,
  credentialHeaders: readonly string[],
  schemas: RouteSchemas | null,
  facts: RequestFacts,
): ReadResponse {
  let read = readers.get(module);
  if (read === undefined) {
    read = createUncheckedReader(module, credentialHeaders);
    readers.set(module, read);
  }
  if (!schemas?.output) return read;
  const isEnveloped = module.descriptor.responses.mode === 'envelope';
  return (outcome, source) => {
    const response = read(outcome, source);
    enforceOutput(schemas, outcome, isEnveloped, facts);
    return response;
  };
}

function createUncheckedReader(
  { name, descriptor: { responses }, client }: LiveModule,
  credentialHeaders: readonly string[],
): ReadResponse {
  if (isPlainEnvelope(responses)) return readPlain;
  const prefix = `/modules/${encodeURIComponent(name)}/http`;
  const references = { bases: client.bases, prefix };
  const expose = createExposeHeaders({ responses, references, credentialHeaders });
  if (responses.mode === 'raw') {
    return (outcome, { base }) => {
      const raw = readRawResponse(outcome);
      return { mode: 'raw', raw, exposed: expose(outcome, base) };
    };
  }
  return (outcome, { base }) => {
    const data = readResponseData(outcome);
    return { mode: 'envelope', data, exposed: expose(outcome, base) };
  };
}

function readPlain(outcome: CheckedOutcome): ForwardedResponse {
  return { mode: 'envelope', data: readResponseData(outcome), exposed: null };
}
