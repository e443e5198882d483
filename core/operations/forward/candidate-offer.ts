import type { Candidate } from '../../provider/candidate/candidate.js';
import type { CheckedOutcome } from '../../provider/outcome.js';
import type { ProviderCall } from '../../provider/provider-call.js';
import type { RouteCall } from './route-call.js';

/**
 * @returns a function that offers the responses of a call to a candidate; `null` for a call that is
 * never copied
 */
export function createCandidateOffer(
  candidate: Candidate,
  { matched, request, upload }: RouteCall,
): ((call: ProviderCall, outcome: CheckedOutcome) => void) | null {
  const { name: route, bodyBytes, responseBytes, stream } = matched.match.value;
  const { method, held } = request;
  const isJson = (bodyBytes ?? responseBytes ?? stream) === null && upload === null;
  if (!isJson || held === undefined || !candidate.isCopied(method)) return null;
  return (call, outcome) => candidate.offer({ call, outcome, route, method, held });
}
