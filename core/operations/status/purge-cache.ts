import { HostError } from '../../errors.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { parsePurgedPath } from '../cache/purged-path.js';
import { RESPONSE_CACHE } from '../cache/response-cache.js';
import { moduleParameter } from '../query.js';
import { Reply } from '../reply.js';
import { defineResource } from '../resource.js';

const NO_CONTENT = 204;

/** Removes cached responses here at once, and on the other workers within a second. */
export const CACHE_PURGE = defineResource({
  text: '204: removes [kept responses](../call/caching.md) of the module, in every process within a second. `path` is a path of calls below `/modules/{module}/http`, without the query; `/a/*` is all below `/a`; without `path` all of the module. 400 for another path, 404 for an unknown module',
  query: {
    module: { ...moduleParameter, isRequired: true },
    path: {
      expected:
        'a path as it was called, without its query, such as /items/7, or /items/* for all below',
      parse: parsePurgedPath,
    },
  },
  needs: [ModuleRegistry, RESPONSE_CACHE],
  answer: ({ query: { module, path }, authorization }, records, responses) => {
    if (!records.list().some(({ name }) => name === module)) {
      throw new HostError('not_found', 'no module has this name', {
        errors: [{ field: 'module', reason: 'not found' }],
        nextActions: ['see GET /modules for the names'],
      });
    }
    responses?.purge({ module, path: path?.path ?? null, isPrefix: path?.isPrefix ?? false });
    const empty = { pieces: [], contentType: null, headers: [] };
    return Reply.forwarded(authorization, { status: NO_CONTENT, ...empty });
  },
});
