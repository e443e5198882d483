import { JSON_TYPE, Reply } from '../../reply.js';
import { checkOutput } from '../enforce-schemas.js';
import { type ExposedHeaders, exposeHeaders, NOTHING_EXPOSED } from '../exposed-headers.js';
import { readResponseData } from '../provider-response.js';
import type { MatchedRoute } from '../route-call.js';
import type { ForwardedResponse, ResponseForm } from './response-form.js';

interface EnvelopedResponse extends ForwardedResponse {
  /** JSON. */
  readonly data: readonly Uint8Array[];
  readonly exposed: ExposedHeaders;
}

/** 200 with eight members, one of them the provider's JSON. */
export const envelopeForm: ResponseForm<EnvelopedResponse> = {
  fits: (_route, { descriptor }) => descriptor.responses.mode === 'envelope',
  stream: () => null,

  read(call, outcome, { base }) {
    const data = readResponseData(outcome);
    const exposed = exposeHeaders(call, outcome, base);
    return checkOutput(call, outcome, { form: envelopeForm, data, exposed });
  },

  reply({ authorization, matched }, { data, exposed }) {
    const { opening, closing } = splitEnvelope(matched);
    const pieces = [opening, ...data, closing];
    if (exposed === NOTHING_EXPOSED) return Reply.ok(authorization, pieces);
    return Reply.forwarded(authorization, {
      status: 200,
      pieces,
      contentType: JSON_TYPE,
      ...exposed,
    });
  },
};

const END = Buffer.from('}');

/**
 * The parts before and after `data`, the last member. Its value is the provider's unchanged bytes,
 * so that numbers and escapes stay the same.
 */
export function splitEnvelope(matched: MatchedRoute): {
  readonly opening: Uint8Array;
  readonly closing: Uint8Array;
} {
  return { opening: Buffer.from(`${writeHead(matched)},"data":`), closing: END };
}

/** The envelope without `data`, as JSON. */
export function createOpening(matched: MatchedRoute): string {
  return `${writeHead(matched)}}`;
}

function writeHead({ target: { providerPath }, match: { value, params } }: MatchedRoute): string {
  const called = `"provider_path":${JSON.stringify(providerPath)},"path_params":${JSON.stringify(params)}`;
  return `${value.envelopeHead},${called}`;
}
