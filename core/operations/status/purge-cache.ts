import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { authorize } from '../authorization.js';
import type { Purge } from '../cache/entry-index.js';
import { RESPONSE_CACHE, type ResponseCache } from '../cache/response-cache.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import type { ModuleRecords } from './module-overview.js';

const NO_CONTENT = 204;

/**
 * Handles `DELETE /cache?module=&path=`: removes cached responses here at once, and on the other
 * workers within a second.
 */
@injectable(ModuleRegistry, RESPONSE_CACHE)
export class PurgeCache implements Handler<Purge> {
  readonly #records: ModuleRecords;
  readonly #responses: ResponseCache | null;

  constructor(records: ModuleRecords, responses: ResponseCache | null) {
    this.#records = records;
    this.#responses = responses;
  }

  async execute(purge: Purge, request: CallerRequest): Promise<Reply> {
    const scope = 'modgate.cache.purge';
    const authorization = authorize(request.actor, { kind: 'scope', scope });
    if (!this.#records.list().some(({ name }) => name === purge.module)) {
      throw new HostError('not_found', 'no module has this name', {
        errors: [{ field: 'module', reason: 'not found' }],
        nextActions: ['see GET /modules for the names'],
      });
    }
    this.#responses?.purge(purge);
    return Reply.forwarded(authorization, {
      status: NO_CONTENT,
      pieces: [],
      contentType: null,
      headers: [],
    });
  }
}
