import { Roles } from '../../auth/roles.js';
import { normalizeAddress } from '../../lib/address-list.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import {
  compareCalls,
  findExplainedCaller,
  readContext,
} from '../../operations/explain/explain.js';
import { findCalls } from '../../operations/explain/explain-calls.js';
import { explainRequest } from '../../operations/explain/explain-request.js';
import { TokenOwners } from '../../operations/explain/token-owners.js';
import { MODULES_FOLDER } from '../../operations/injection-tokens.js';
import { createQueryError } from '../../operations/query.js';
import { Reply } from '../../operations/reply.js';
import { defineResource } from '../../operations/resource.js';
import { CALL_RECORDS, toWireCall } from '../../operations/status/call-record.js';
import { MODULE_OVERVIEW } from '../../operations/status/module-overview.js';
import { parseAddress, parseCalledTarget } from '../request/target.js';

const AS_HEADER = 'modgate-explain-as';

const TEXT = { expected: 'a text', parse: (text: string) => text };
const USAGE =
  'send /explain?method=GET&target=%2Fmodules%2Fcrm%2Fhttp%2Fcontacts or /explain?request_id=req_00000000-0000-4000-8000-000000000000';

/**
 * Explains how the host would handle a request, step by step, or how it has handled one. The target
 * is a path or a URL, in the usual encoding of queries.
 */
export const EXPLANATION = defineResource({
  text: '`{method, target, verdict: {status, detail}, actor, path, checks, module, route, also_matches, methods, body, headers, endpoints, limits}`. The header `modgate-explain-as` holds the bearer token of another client to explain: once a second and 30 times at once for each caller, otherwise 429. `?request_id=` alone answers `{"calls": […]}` instead, see below',
  query: {
    method: TEXT,
    target: TEXT,
    client: { expected: 'an IP address', parse: normalizeAddress },
    request_id: TEXT,
    now: { expected: 'true', parse: (text: string) => (text === 'true' ? true : null) },
  },
  usage: USAGE,
  needs: [ModuleRegistry, MODULE_OVERVIEW, TokenOwners, CALL_RECORDS, MODULES_FOLDER, Roles],
  answer: async ({ query, request, authorization }, registry, overview, ...needs) => {
    const [owners, callRecords, folder, roles] = needs;
    const { request_id: requestId, now, ...asked } = query;
    const sources = { records: registry, overview, folder, roles };
    if (requestId !== null) {
      for (const [name, value] of Object.entries(asked)) {
        if (value !== null) throw createQueryError(name, 'not allowed with request_id', USAGE);
      }
      const found = await findCalls(callRecords, requireText('request_id', requestId), request);
      const { calls } = found;
      if (now !== true) return Reply.json(found.authorization, { calls: calls.map(toWireCall) });
      owners.admit(request, calls[0]?.actor ?? null);
      const parse = (target: string) => parseCalledTarget(target, undefined, registry);
      const compared = await compareCalls(calls, parse, sources);
      return Reply.json(found.authorization, { calls: compared });
    }
    if (now !== null) throw createQueryError('now', 'only with request_id', USAGE);
    const method = requireText('method', query.method);
    const target = requireText('target', query.target);
    const { headers } = request;
    if (headers.count(AS_HEADER) > 1) throw createQueryError(AS_HEADER, 'repeated', USAGE);
    const explained = {
      ...{ method, target, path: parseAddress(target, registry), client: query.client },
    };
    const explainAs = headers.get(AS_HEADER) ?? null;
    const actor = await findExplainedCaller(owners, { ...explained, explainAs }, request);
    const context = await readContext(sources);
    return Reply.json(authorization, await explainRequest({ ...explained, actor }, context));
  },
});

function requireText(name: string, text: string | null): string {
  if (text) return text;
  throw createQueryError(name, 'missing', USAGE);
}
