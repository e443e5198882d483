import { formatMount, type MountedModule } from '../../descriptor/sections/mount.js';
import { createTurns, forEachInSlices } from '../../lib/slices.js';
import { configDigestOf, type PreparedDescriptor } from '../prepare-descriptor.js';
import { type BlastRadius, compareModule, type ServedModule } from './blast-radius.js';
import { type CheckedModule, readAccess, readResponses } from './local-module.js';

const NOT_COUNTED = { calls_last_hour: null, calls_note: 'not counted' };

/** The changes for clients between two folders of descriptors. */
export async function compareDescriptors(
  before: readonly PreparedDescriptor[],
  after: readonly PreparedDescriptor[],
): Promise<Omit<BlastRadius, 'url'>> {
  const served = await describeServed(before);
  const local = await describeLocal(after);
  const owners = { before: listOwners(before), after: listOwners(after) };
  const modules: BlastRadius['modules'][number][] = [];
  const unchanged: string[] = [];
  const takeTurn = createTurns();
  for (const name of new Set([...served.keys(), ...local.keys()].sort())) {
    await takeTurn();
    const servedModule = served.get(name) ?? null;
    const change = await compareModule(name, local.get(name) ?? null, servedModule, owners);
    if (change === null) {
      if (servedModule !== null) unchanged.push(name);
      continue;
    }
    const removed = change.routes.removed.map((route) => ({ ...route, ...NOT_COUNTED }));
    modules.push({ ...change, routes: { ...change.routes, removed } });
  }
  return { modules, unchanged };
}

async function describeServed(
  prepared: readonly PreparedDescriptor[],
): Promise<ReadonlyMap<string, ServedModule>> {
  const mounts = listMounts(prepared);
  const served = new Map<string, ServedModule>();
  await forEachInSlices(prepared, ({ descriptor, manifest, file, inputDigest }) => {
    if (!descriptor.enabled || manifest === null) return;
    served.set(descriptor.module, {
      name: descriptor.module,
      file,
      configDigest: configDigestOf(inputDigest, manifest.digest),
      access: readAccess(descriptor, mounts),
      manifest: manifest.manifest,
      responses: readResponses(descriptor),
    });
  });
  return served;
}

async function describeLocal(
  prepared: readonly PreparedDescriptor[],
): Promise<ReadonlyMap<string, CheckedModule>> {
  const mounts = listMounts(prepared);
  const local = new Map<string, CheckedModule>();
  await forEachInSlices(prepared, (one) => {
    local.set(one.descriptor.module, checkPrepared(one, mounts));
  });
  return local;
}

function checkPrepared(
  { descriptor, manifest, inputDigest }: PreparedDescriptor,
  mounts: readonly MountedModule[],
): CheckedModule {
  if (!descriptor.enabled) return { kind: 'disabled' };
  if (manifest === null) return { kind: 'unknown', detail: 'its manifest is not stored' };
  return {
    kind: 'known',
    manifest: manifest.manifest,
    configDigest: configDigestOf(inputDigest, manifest.digest),
    responses: readResponses(descriptor),
    access: readAccess(descriptor, mounts),
  };
}

function listMounts(prepared: readonly PreparedDescriptor[]): readonly MountedModule[] {
  return prepared.flatMap(({ descriptor: { module, mount, enabled } }) =>
    enabled ? mount.map((takenMount) => ({ module, mount: takenMount })) : [],
  );
}

function listOwners(prepared: readonly PreparedDescriptor[]): ReadonlyMap<string, string> {
  return new Map(listMounts(prepared).map(({ module, mount }) => [formatMount(mount), module]));
}
