import { any, array, nullable, string, type } from 'superstruct';
import type { Explanation } from '../../operations/explain/explanation.js';
import type { HostClient } from '../client/host-client.js';
import { parseAnswer } from '../client/host-response.js';

/** Enough to tell a host's answer from another's: what it says is for people to read. */
const EXPLANATION = type({
  method: string(),
  target: string(),
  verdict: type({ detail: string() }),
  path: type({ kind: string() }),
  checks: array(type({ check: string(), outcome: string(), detail: string() })),
  losers: array(any()),
  headers: array(type({ name: string(), value: nullable(string()), from: string() })),
  endpoints: array(type({ endpoint: string(), state: string() })),
  limits: array(type({ name: string(), source: nullable(string()) })),
});

/** @throws CommandFailure for a text that no host of ours answers. */
export function parseExplanation(client: HostClient, text: string): Explanation {
  return parseAnswer(client, text, EXPLANATION) as unknown as Explanation;
}
