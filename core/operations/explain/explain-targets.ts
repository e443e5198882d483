import { readMember } from '../../lib/read-member.js';
import { parseEndpointBase } from '../../provider/endpoint-base.js';

/** The base path of a module's endpoints: empty, or `/api`. The first one's if they differ. */
export function readBasePath(config: unknown): string {
  const endpoints: unknown = readMember(config, 'endpoints');
  const [first] = Array.isArray(endpoints) ? endpoints : [];
  return basePathOf(readMember(first, 'url') ?? first);
}

/** Endpoints of kinds that call URLs are named by them; empty for any other. */
export function basePathOf(endpoint: unknown): string {
  if (typeof endpoint !== 'string' || !/^https?:/i.test(endpoint)) return '';
  return URL.canParse(endpoint) ? parseEndpointBase(endpoint).path : '';
}
