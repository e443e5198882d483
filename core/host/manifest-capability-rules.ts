import type { Manifest } from '../contract/index.js';
import type { Fault, Path } from '../document/diagnostic.js';
import { describeRoute } from '../manifest/manifest-rules.js';
import { faultAt, findDuplicates } from './manifest-faults.js';

interface CapabilityUse {
  readonly capability: string;
  readonly path: Path;
}

/** What routes, entities and actions name must be declared (contract 5). */
export function judgeCapabilities(manifest: Manifest): Fault[] {
  const declared = new Set(manifest.capabilities);
  const unlisted = listUses(manifest).filter(({ capability }) => !declared.has(capability));
  return [
    ...findDuplicates(manifest.capabilities, ['capabilities'], String, ''),
    ...unlisted.map(({ path }) =>
      faultAt(path, 'unlisted-capability', "names a capability that 'capabilities' does not list"),
    ),
  ];
}

export function findCapabilityDoubts(manifest: Manifest): Fault[] {
  const open = manifest.http_routes.flatMap((route, index): Fault[] => {
    if (route.capability !== undefined) return [];
    const message = `${describeRoute(route, index)} has no capability, so it answers 403 to everybody`;
    const hint = "add a 'capability'";
    return [
      {
        rule: 'route-without-capability',
        message,
        hint,
        path: ['http_routes', index],
        at: 'value',
      },
    ];
  });
  return [...open, ...findUnused(manifest)];
}

/**
 * Any capability of a module with config fields or slots may serve as the permission of its console
 * (contract 4), so there none counts as unused.
 */
function findUnused(manifest: Manifest): Fault[] {
  const hasConsole = manifest.config?.fields?.length || manifest.console_slots?.length;
  if (hasConsole) return [];
  const used = new Set(listUses(manifest).map(({ capability }) => capability));
  for (const contribution of manifest.console_contributions ?? []) {
    for (const capability of contribution.required_capabilities ?? []) used.add(capability);
  }
  return manifest.capabilities.flatMap((capability, index): Fault[] => {
    if (used.has(capability)) return [];
    const path = ['capabilities', index];
    return [
      faultAt(path, 'unused-capability', 'is used by no route, entity, action or contribution'),
    ];
  });
}

function listUses(manifest: Manifest): CapabilityUse[] {
  const { entities = [], actions = [] } = manifest.admin ?? {};
  return [
    ...manifest.http_routes.flatMap(({ capability }, index) =>
      capability === undefined ? [] : [{ capability, path: ['http_routes', index, 'capability'] }],
    ),
    ...entities.map(({ read_capability }, index) => ({
      capability: read_capability,
      path: ['admin', 'entities', index, 'read_capability'],
    })),
    ...actions.map(({ capability }, index) => ({
      capability,
      path: ['admin', 'actions', index, 'capability'],
    })),
  ];
}
