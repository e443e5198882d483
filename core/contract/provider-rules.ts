import { array, date, define, enums, nullable, optional, refine, string, type } from 'superstruct';
import { matching } from './described.js';
import { BALANCING_STRATEGIES } from './provider.js';
import { MAX_TIMER_MS, wholeNumber } from './whole-number.js';

/** The maximum number of endpoints that are resolved while the provider is open. */
const MAX_FOUND = 256;

const endpoint = type({
  id: matching('an id of 1 to 1024 printable characters', /^[^\p{Cc}]{1,1024}$/u),
  weight: wholeNumber(1),
  url: optional(define<string>('an http or https URL that can be a base', isBaseUrl)),
  priority: optional(wholeNumber(0)),
});

/** The form of `Provider.endpoints`, which is code of others. */
export const endpointList = refine(
  array(endpoint),
  'a list of endpoints with different ids',
  (endpoints) => new Set(endpoints.map(({ id }) => id)).size === endpoints.length,
);

/** The form of `Provider.followEndpoints`. */
export const foundEndpoints = type({
  endpoints: refine(
    endpointList,
    `a list of at most ${MAX_FOUND} endpoints`,
    ({ length }) => length <= MAX_FOUND,
  ),
  resolvedAt: nullable(date()),
  resolveError: nullable(string()),
  resolveFailures: wholeNumber(0),
});

/** The form of `Provider.balancing`. */
export const balancing = type({
  strategy: enums(BALANCING_STRATEGIES),
  hashHeader: nullable(string()),
  health: nullable(
    type({
      intervalMs: wholeNumber(1, MAX_TIMER_MS),
      timeoutMs: wholeNumber(1, MAX_TIMER_MS),
      failures: wholeNumber(1),
      successes: wholeNumber(1),
    }),
  ),
});

/** Whether a value is the base of URLs: http or https, without credentials, query and fragment. */
function isBaseUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !/^https?:\/\/[^?#]+$/i.test(value)) return false;
  if (!URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}
