import { any, array, nullable, string, type } from 'superstruct';
import type { Explanation } from '../../operations/explain/explanation.js';
import type { HostClient } from '../client/host-client.js';
import { parseHostResponse } from '../client/host-response.js';

/** Only the fields that are needed to print it, so that other versions of the host are accepted. */
const EXPLANATION = type({
  method: string(),
  target: string(),
  verdict: type({ detail: string() }),
  path: type({ kind: string() }),
  checks: array(type({ check: string(), outcome: string(), detail: string() })),
  also_matches: array(any()),
  headers: array(type({ name: string(), value: nullable(string()), from: string() })),
  endpoints: array(type({ endpoint: string(), state: string() })),
  limits: array(type({ name: string(), source: nullable(string()) })),
});

/** @throws CommandError for an unexpected body. */
export function parseExplanation(client: HostClient, text: string): Explanation {
  return parseHostResponse(client, text, EXPLANATION) as unknown as Explanation;
}
