import { isSameJson } from '../../contract/canonical-value.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import { LISTED_SECTIONS } from '../../descriptor/sections.js';
import type { ErrorDetail } from '../../errors.js';
import { nextTurn } from '../../lib/slices.js';
import type { InspectedDescriptor } from './inspect-release.js';
import type { ReleaseFiles } from './release-files.js';

/** The descriptors of a release, and its files. */
export interface InspectedRelease {
  readonly descriptors: readonly InspectedDescriptor[];
  readonly files: ReleaseFiles;
  /** Where modules with stored secrets would get them: digests by module. */
  readonly places: ReadonlyMap<string, string>;
}

/** The modules with stored secrets, each with the digest of its last place of delivery. */
export type StoredSecrets = ReadonlyMap<string, string | null>;

/** The descriptors of a release that need the right for code, each with the reason. */
export async function listCodeNeeds(
  release: InspectedRelease,
  readActive: () => Promise<InspectedRelease>,
  stored: StoredSecrets,
): Promise<readonly ErrorDetail[]> {
  const { descriptors } = release;
  const isAtStake = ({ runsCode, hasCredentials, descriptor }: InspectedDescriptor) =>
    runsCode || hasCredentials || stored.has(descriptor.module);
  if (!descriptors.some(isAtStake)) return [];
  const active = await readActive();
  const before = new Map(active.descriptors.map((one) => [one.descriptor.module, one]));
  const staysInPlace = (module: string, known: InspectedDescriptor | undefined) => {
    const place = release.places.get(module);
    // The active release delivers there already, unless it has disabled the module.
    const isActive = known?.descriptor.enabled === true && place === active.places.get(module);
    return place !== undefined && (isActive || place === stored.get(module));
  };
  const explain = (inspected: InspectedDescriptor): string | null => {
    const { module } = inspected.descriptor;
    const known = before.get(module);
    if (inspected.runsCode) return 'runs code on the hosts';
    if (inspected.hasCredentials && !isUnchanged(inspected, release, known, active)) {
      return 'uses credentials of the host in another way than the active release';
    }
    if (!stored.has(module) || staysInPlace(module, known)) return null;
    return 'delivers stored secrets of the module to another place';
  };
  const needs: ErrorDetail[] = [];
  for (const inspected of descriptors) {
    await nextTurn();
    const reason = explain(inspected);
    if (reason !== null) needs.push({ field: inspected.entry.file, reason });
  }
  return needs;
}

function isUnchanged(
  inspected: InspectedDescriptor,
  { files }: InspectedRelease,
  known: InspectedDescriptor | undefined,
  active: InspectedRelease,
): boolean {
  return (
    known !== undefined &&
    areFreeChanges(inspected.descriptor, known.descriptor) &&
    hasSameContents([inspected, files], [known, active.files])
  );
}

/** Where a release delivers stored secrets as soon as it is active. */
export function listServedPlaces({
  descriptors,
  places,
}: InspectedRelease): ReadonlyMap<string, string> {
  const served = new Set(
    descriptors.flatMap(({ descriptor: { enabled, module } }) => (enabled ? [module] : [])),
  );
  return new Map([...places].filter(([module]) => served.has(module)));
}

/** Whether the sections that differ may be changed, and the adapter says the same of the config. */
function areFreeChanges(after: Descriptor, before: Descriptor): boolean {
  const isSame = (name: keyof Descriptor) => isSameJson(after[name], before[name]);
  return (
    (['configDescription', 'furtherProviders'] as const).every(isSame) &&
    LISTED_SECTIONS.every(
      ([name, { isFreeChange }]) => isFreeChange?.(after[name], before[name]) ?? isSame(name),
    )
  );
}

type InFiles = readonly [InspectedDescriptor, ReleaseFiles];

/** Whether the files that two descriptors name have the same contents. */
function hasSameContents([one, files]: InFiles, [other, otherFiles]: InFiles): boolean {
  const paths = listPaths(one, files);
  const otherPaths = listPaths(other, otherFiles);
  if (paths.size !== otherPaths.size) return false;
  for (const path of paths) {
    const content = otherPaths.has(path) ? otherFiles.get(path) : undefined;
    if (content === undefined || files.get(path)?.equals(content) !== true) return false;
  }
  return true;
}

/** The named files, and all files in named folders. */
function listPaths(
  { files, paths }: Pick<InspectedDescriptor, 'files' | 'paths'>,
  all: ReleaseFiles,
): ReadonlySet<string> {
  const isWithin = (file: string) =>
    paths.some((path) => path === '.' || file === path || file.startsWith(`${path}/`));
  const inFolders = paths.length === 0 ? [] : [...all.keys()].filter(isWithin);
  return new Set([...files, ...inFolders].filter((path) => all.has(path)));
}
