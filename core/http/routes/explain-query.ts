import { normalizeAddress } from '../../lib/address-list.js';
import type { MountSource } from '../../modules/mount-table.js';
import type { ExplainInput } from '../../operations/explain/explain.js';
import type { ExplainCallsInput } from '../../operations/explain/explain-calls.js';
import { parseAddress, parseCalledTarget } from '../request/target.js';
import type { HostContext } from '../request-context.js';
import { createQueryError, readQuery } from './query.js';

const AS_HEADER = 'modgate-explain-as';

const TEXT = { expected: 'a text', parse: (text: string) => text };
const FLAG = {
  expected: 'true',
  parse: (text: string) => (text === 'true' ? true : null),
};
const ADDRESS = { expected: 'an IP address', parse: normalizeAddress };
const PARAMETERS = {
  method: TEXT,
  target: TEXT,
  client: ADDRESS,
  request_id: TEXT,
  now: FLAG,
} as const;
const USAGE =
  'send /explain?method=GET&target=%2Fmodules%2Fcrm%2Fhttp%2Fcontacts or /explain?request_id=req_00000000-0000-4000-8000-000000000000';

/**
 * Reads `GET /explain?method=&target=`, whose target is a path or a URL, or `GET
 * /explain?request_id=`. The query has the usual encoding.
 * @throws HostError 400.
 */
export function readExplainInput(
  ctx: HostContext,
  mounts: MountSource,
): ExplainInput | ExplainCallsInput {
  const { request_id: requestId, now, ...query } = readQuery(ctx, PARAMETERS, USAGE);
  if (requestId !== null) {
    for (const [name, value] of Object.entries(query)) {
      if (value !== null) throw createQueryError(name, 'not allowed with request_id', USAGE);
    }
    const parse = (target: string) => parseCalledTarget(target, undefined, mounts);
    const parseTarget = now === true ? parse : null;
    return { requestId: requireText('request_id', requestId), parseTarget };
  }
  if (now !== null) throw createQueryError('now', 'only with request_id', USAGE);
  const method = requireText('method', query.method);
  const target = requireText('target', query.target);
  const { headers } = ctx.state.request;
  if (headers.count(AS_HEADER) > 1) throw createQueryError(AS_HEADER, 'repeated', USAGE);
  const explainAs = headers.get(AS_HEADER) ?? null;
  const path = parseAddress(target, mounts);
  return { method, target, path, explainAs, client: query.client };
}

function requireText(name: string, text: string | null): string {
  if (text) return text;
  throw createQueryError(name, 'missing', USAGE);
}
