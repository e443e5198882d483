import { nullable, object, string } from 'superstruct';
import type { AnyStruct } from '../../contract/described.js';
import { HostError } from '../../errors.js';
import { listServedPlaces } from '../../modules/releases/needs-code.js';
import type { WriteAudit } from '../../store/audit-row.js';
import type { Canary, CanaryVerdict, ReleaseHost } from '../../store/releases/releases.js';
import type { Store } from '../../store/store.js';
import { STORE } from '../injection-tokens.js';
import { defineResource } from '../resource.js';
import { rethrowStoreError } from '../store-error.js';
import { sumFigures } from './decide-canary.js';
import { HOST_RELEASES, RELEASES_SCOPE } from './host-releases.js';
import { inspectStored, withRelease } from './open-release.js';
import { parseReleaseBody, requireDigest } from './release-body.js';
import { createConflict } from './release-conflict.js';
import { assertReleaseRights } from './release-rights.js';
import { readFiles, requireFiles, requireRelease } from './stored-release.js';

const rollbackBody = object({ release: nullable(string()) });

/** Makes an earlier release active again, or ends a canary. */
export const ROLLBACK = defineResource({
  text: '`{release}`: an earlier one, or `null` for the one before, or for the active one while a canary is tried; `{release, outcome}` with `active`, `unchanged` or, where it ended a canary, `aborted`. For code and other uses of credentials it also requires `modgate.releases.code`',
  needs: [STORE, HOST_RELEASES],
  answer: async ({ body, request }, store, host) => {
    const id = parseRollback(body.join());
    const { actor, requestId, correlationId } = request;
    const { releases } = store;
    const { fleet, patterns } = host;
    const { active, canary } = await releases.readState(fleet).catch(rethrowStoreError);
    const audit = {
      ...{ actor: { kind: actor.kind, id: actor.id }, module: '', permission: RELEASES_SCOPE },
      ...{ operation: 'release_rollback', target: '', requestId, correlationId },
    };
    if (canary !== null) {
      if (id !== null && id !== active) throw createConflict({ active, canary: canary.release });
      await abort(store, fleet, canary, audit);
      return { release: active, outcome: 'aborted' };
    }
    const current = active === null ? null : await requireRelease(store, host, active);
    const target = id ?? current?.base ?? null;
    if (target === null) throw createNothingBefore();
    if (target === active) return { release: active, outcome: 'unchanged' };
    const release = await requireRelease(store, host, target);
    const stored = await store.config.listSecrets().catch(rethrowStoreError);
    const files = await requireFiles(store, host, release);
    const inspected = await withRelease(host, files, stored, ({ inspect }) => inspect());
    const readCurrent = async () =>
      inspectStored(host, await readFiles(store, host, current), stored);
    await assertReleaseRights(actor, inspected, readCurrent, { patterns, stored });
    const change = { id: target, instead: active };
    const result = await releases
      .activate(fleet, change, { ...audit, target }, listServedPlaces(inspected))
      .catch(rethrowStoreError);
    if (result.outcome === 'conflict') throw createConflict(result);
    return { release: target, outcome: 'active' };
  },
});

/** Parses `{"release": null}` or a digest. @throws HostError 400. */
function parseRollback(body: Buffer): string | null {
  const { release } = parseReleaseBody<{ release: string | null }>(body, rollbackBody as AnyStruct);
  if (release !== null) requireDigest('release', release);
  return release;
}

async function abort(
  { releases }: Store,
  fleet: string,
  canary: Canary,
  audit: WriteAudit,
): Promise<void> {
  const decide = (stored: Canary, reports: readonly ReleaseHost[]): CanaryVerdict => {
    const modules = sumFigures(stored, reports);
    return { outcome: 'aborted', reason: 'ended by an operator', modules };
  };
  const verdict = await releases
    .endCanary(fleet, canary.release, decide, () => ({ ...audit, target: canary.release }))
    .catch(rethrowStoreError);
  if (verdict !== null) return;
  throw new HostError('conflict', 'the canary was decided meanwhile', {
    nextActions: ['see modgate releases'],
  });
}

function createNothingBefore(): HostError {
  return new HostError('conflict', 'there is no release before the active one', {
    nextActions: ['name the release to go back to, see modgate releases'],
  });
}
