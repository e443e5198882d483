import type { Manifest } from '../contract/index.js';
import type { Path, Violation } from '../document/diagnostic.js';
import { findNearestName } from '../document/suggest.js';
import { describeRoute } from './route-rules.js';
import { findDuplicates, violationAt } from './violation-at.js';

interface CapabilityUse {
  readonly capability: string;
  readonly path: Path;
}

/** Every capability of a route, entity or action must be declared. */
export function validateCapabilities(manifest: Partial<Manifest>): Violation[] {
  const { capabilities } = manifest;
  if (capabilities === undefined) return [];
  const declared = new Set(capabilities);
  const unlisted = listUses(manifest).filter(({ capability }) => !declared.has(capability));
  return [
    ...findDuplicates(capabilities, ['capabilities'], String, ''),
    ...unlisted.map(({ capability, path }) => {
      const nearest = findNearestName(capability, Array.from(declared).filter(Boolean));
      const hint =
        nearest === null ? `add '${capability}' to 'capabilities'` : `did you mean '${nearest}'?`;
      const rest = `names the capability '${capability}', which 'capabilities' does not list`;
      return violationAt(path, 'unlisted-capability', rest, hint);
    }),
  ];
}

export function findCapabilityWarnings(manifest: Manifest): Violation[] {
  const open = manifest.http_routes.flatMap((route, index): Violation[] => {
    if (route.capability !== undefined) return [];
    const message = `${describeRoute(route, index)} has no capability, so it answers 403 to everybody`;
    const path = ['http_routes', index];
    const hint = "add a 'capability'";
    return [{ rule: 'route-without-capability', message, hint, path, at: 'value' }];
  });
  return [...open, ...findUnused(manifest)];
}

/** The console of a module with config fields or slots may use any capability as its permission. */
function findUnused(manifest: Manifest): Violation[] {
  const hasConsole = manifest.config?.fields?.length || manifest.console_slots?.length;
  if (hasConsole) return [];
  const used = new Set(listUses(manifest).map(({ capability }) => capability));
  for (const contribution of manifest.console_contributions ?? []) {
    for (const capability of contribution.required_capabilities ?? []) used.add(capability);
  }
  return manifest.capabilities.flatMap((capability, index): Violation[] => {
    if (used.has(capability)) return [];
    const rest = 'is used by no route, entity, action or contribution';
    return [violationAt(['capabilities', index], 'unused-capability', rest)];
  });
}

function listUses(manifest: Partial<Manifest>): CapabilityUse[] {
  const { entities = [], actions = [] } = manifest.admin ?? {};
  return [
    ...(manifest.http_routes ?? []).flatMap(({ capability }, index) =>
      capability === undefined ? [] : [{ capability, path: ['http_routes', index, 'capability'] }],
    ),
    ...entities.flatMap(({ read_capability }, index) => [
      { capability: read_capability, path: ['admin', 'entities', index, 'read_capability'] },
    ]),
    ...actions.flatMap(({ capability }, index) => [
      { capability, path: ['admin', 'actions', index, 'capability'] },
    ]),
  ];
}
