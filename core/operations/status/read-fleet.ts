import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { authorize } from '../authorization.js';
import { FLEET, type Fleet } from '../fleet/fleet.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';

/** Handles `GET /fleet`: lists the hosts of the fleet, and whether they agree. */
@injectable(FLEET)
export class ReadFleet implements Handler<string | null> {
  readonly #fleet: Fleet;

  constructor(fleet: Fleet) {
    this.#fleet = fleet;
  }

  /** @param served a module or digest: each host reports whether it serves it */
  async execute(served: string | null, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.modules.read',
    });
    const status = await this.#fleet.read(served ?? undefined).catch(rethrowStoreError);
    if (status === null) {
      throw new HostError('not_found', 'the host belongs to no fleet', {
        nextActions: ['start it with --fleet and a store of PostgreSQL'],
      });
    }
    return Reply.json(authorization, status);
  }
}
