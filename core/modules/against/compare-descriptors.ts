import { formatMount, type MountedModule } from '../../descriptor/mounts.js';
import { configDigestOf, type PreparedDescriptor } from '../prepare-descriptor.js';
import { type BlastRadius, compareModule, type ServedModule } from './blast-radius.js';
import { type CheckedModule, readAccess, readResponses } from './local-module.js';

const NOT_COUNTED = { calls_last_hour: null, calls_note: 'not counted' };

/** The changes for clients between two folders of descriptors. */
export function compareDescriptors(
  before: readonly PreparedDescriptor[],
  after: readonly PreparedDescriptor[],
): Omit<BlastRadius, 'url'> {
  const served = new Map(describeServed(before).map((module) => [module.name, module]));
  const local = describeLocal(after);
  const owners = { before: listOwners(before), after: listOwners(after) };
  const modules: BlastRadius['modules'][number][] = [];
  const unchanged: string[] = [];
  for (const name of new Set([...served.keys(), ...local.keys()].sort())) {
    const servedModule = served.get(name) ?? null;
    const change = compareModule(name, local.get(name) ?? null, servedModule, owners);
    if (change === null) {
      if (servedModule !== null) unchanged.push(name);
      continue;
    }
    const removed = change.routes.removed.map((route) => ({ ...route, ...NOT_COUNTED }));
    modules.push({ ...change, routes: { ...change.routes, removed } });
  }
  return { modules, unchanged };
}

function describeServed(prepared: readonly PreparedDescriptor[]): readonly ServedModule[] {
  const mounts = listMounts(prepared);
  return prepared.flatMap(({ descriptor, manifest, file, inputDigest }) => {
    if (!descriptor.enabled || manifest === null) return [];
    return {
      name: descriptor.module,
      file,
      configDigest: configDigestOf(inputDigest, manifest.digest),
      access: readAccess(descriptor, mounts),
      manifest: manifest.manifest,
      responses: readResponses(descriptor),
    };
  });
}

function describeLocal(
  prepared: readonly PreparedDescriptor[],
): ReadonlyMap<string, CheckedModule> {
  const mounts = listMounts(prepared);
  return new Map(
    prepared.map(({ descriptor, manifest, inputDigest }): [string, CheckedModule] => {
      const { module, enabled } = descriptor;
      if (!enabled) return [module, { kind: 'disabled' }];
      if (manifest === null)
        return [module, { kind: 'unknown', detail: 'its manifest is not stored' }];
      return [
        module,
        {
          kind: 'known',
          manifest: manifest.manifest,
          configDigest: configDigestOf(inputDigest, manifest.digest),
          responses: readResponses(descriptor),
          access: readAccess(descriptor, mounts),
        },
      ];
    }),
  );
}

function listMounts(prepared: readonly PreparedDescriptor[]): readonly MountedModule[] {
  return prepared.flatMap(({ descriptor: { module, mount, enabled } }) =>
    enabled ? mount.map((takenMount) => ({ module, mount: takenMount })) : [],
  );
}

function listOwners(prepared: readonly PreparedDescriptor[]): ReadonlyMap<string, string> {
  return new Map(listMounts(prepared).map(({ module, mount }) => [formatMount(mount), module]));
}
