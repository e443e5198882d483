import { HostError } from '../../errors.js';
import { injectable } from '../../injection.js';
import { decodeFiles } from '../../modules/releases/release-files.js';
import type { Canary } from '../../store/releases/releases.js';
import type { Store, WriteAudit } from '../../store/store.js';
import { authorize } from '../authorization.js';
import { STORE } from '../injection-tokens.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';
import { rethrowStoreError } from '../store-error.js';
import { sumFigures } from './decide-canary.js';
import { HOST_RELEASES, type HostReleases, RELEASES_SCOPE } from './host-releases.js';
import { inspectStored, withRelease } from './open-release.js';
import { requireRelease } from './read-releases.js';
import { createConflict } from './release-conflict.js';
import { assertReleaseRights } from './release-rights.js';

/** Handles `POST /rollback`: makes an earlier release active again, or ends a canary. */
@injectable(STORE, HOST_RELEASES)
export class RollbackRelease implements Handler<string | null> {
  readonly #store: Store;
  readonly #host: HostReleases;

  constructor(store: Store, host: HostReleases) {
    this.#store = store;
    this.#host = host;
  }

  /**
   * @param id the release to return to; `null`: the previous one, or the active one if a canary
   * runs
   */
  async execute(id: string | null, request: CallerRequest): Promise<Reply> {
    const { actor, requestId, correlationId } = request;
    const authorization = authorize(actor, { kind: 'scope', scope: RELEASES_SCOPE });
    const { releases } = this.#store;
    const { fleet } = this.#host;
    const { active, canary } = await releases.readState(fleet).catch(rethrowStoreError);
    const audit = {
      ...{ actor: { kind: actor.kind, id: actor.id }, module: '', permission: RELEASES_SCOPE },
      ...{ operation: 'release_rollback', target: '', requestId, correlationId },
    };
    if (canary !== null) {
      if (id !== null && id !== active) throw createConflict({ active, canary: canary.release });
      await this.#abort(canary, audit);
      return Reply.json(authorization, { release: active, outcome: 'aborted' });
    }
    const current = active === null ? null : await requireRelease(this.#store, this.#host, active);
    const target = id ?? current?.base ?? null;
    if (target === null) throw createNothingBefore();
    if (target === active)
      return Reply.json(authorization, { release: active, outcome: 'unchanged' });
    const release = await requireRelease(this.#store, this.#host, target);
    const inspected = await withRelease(this.#host, decodeFiles(release.content), ({ inspect }) =>
      inspect(),
    );
    const readCurrent = () => inspectStored(this.#host, current);
    await assertReleaseRights(actor, inspected, readCurrent, this.#host.patterns);
    const result = await releases
      .activate(fleet, { id: target, instead: active }, { ...audit, target })
      .catch(rethrowStoreError);
    if (result.outcome === 'conflict') throw createConflict(result);
    return Reply.json(authorization, { release: target, outcome: 'active' });
  }

  async #abort(canary: Canary, audit: WriteAudit): Promise<void> {
    const { releases } = this.#store;
    const { fleet } = this.#host;
    const modules = sumFigures(canary, await releases.listHosts(fleet).catch(rethrowStoreError));
    const verdict = { outcome: 'aborted', reason: 'ended by an operator', modules } as const;
    const isEnded = await releases
      .endCanary(fleet, canary.release, verdict, { ...audit, target: canary.release })
      .catch(rethrowStoreError);
    if (!isEnded) {
      throw new HostError('conflict', 'the canary was decided meanwhile', {
        nextActions: ['see modgate releases'],
      });
    }
  }
}

function createNothingBefore(): HostError {
  return new HostError('conflict', 'there is no release before the active one', {
    nextActions: ['name the release to go back to, see modgate releases'],
  });
}
