import type { DescribedHost } from './described-module.js';

const SCHEME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]+/;
/** Names of components have no other characters. */
const NOT_IN_NAME = /[^A-Za-z0-9._-]/g;

/** One for each challenge, and one for each other header that credentials may come in: alternatives. */
export function createSecuritySchemes({
  challenges,
  credentialHeaders,
}: DescribedHost): Record<string, unknown> {
  const schemes: Record<string, unknown> = {};
  for (const challenge of challenges) {
    const scheme = SCHEME.exec(challenge)?.[0].toLowerCase();
    if (scheme === undefined) continue;
    schemes[scheme.replaceAll(NOT_IN_NAME, '_')] = { type: 'http', scheme };
  }
  for (const name of credentialHeaders) {
    if (name === 'authorization') continue;
    schemes[name.replaceAll(NOT_IN_NAME, '_')] = { type: 'apiKey', in: 'header', name };
  }
  return schemes;
}
