import type { Manifest } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import {
  findOuterMount,
  formatMount,
  type Mount,
  type OuterMount,
} from '../../descriptor/mounts.js';
import { listMounts } from '../check/check-descriptors.js';
import {
  type CheckedFile,
  type CheckReport,
  readConfigDigest,
  readManifestOf,
} from '../check/check-report.js';

/** A module in the checked files. */
export type LocalModule =
  | {
      readonly kind: 'known';
      readonly manifest: Manifest;
      /** `null` for a manifest that was checked without its descriptor. */
      readonly configDigest: string | null;
      /** Likewise. */
      readonly responses: ResponseFacts | null;
      /** Likewise. */
      readonly access: AccessFacts | null;
    }
  | { readonly kind: 'disabled' }
  | { readonly kind: 'unknown'; readonly detail: string };

/** How a descriptor lets clients reach its module. */
export interface AccessFacts {
  /** Whether it opens the public routes. */
  readonly public: boolean;
  /** Where clients may call from; `null`: everywhere. */
  readonly addresses: readonly string[] | null;
  readonly mounts: readonly Mount[];
  /** The paths of other modules that its mounts take. */
  readonly taken: readonly string[];
}

/** What clients get of the responses of a module. */
export interface ResponseFacts {
  readonly mode: string;
  readonly expose_headers: readonly string[];
  /** Where redirects may lead that callers get; absent for nowhere. */
  readonly redirects?: readonly string[] | undefined;
}

const INVALID_FILE = 'its file has errors';
const MANIFEST_UNKNOWN = 'its manifest is not available offline';

/**
 * Lists the modules by name. Files without a readable module name are left out.
 * @param others the mounts of modules that are not checked
 */
export function listLocalModules(
  { files }: CheckReport,
  others: readonly OuterMount[],
): Map<string, LocalModule> {
  const modules = new Map<string, LocalModule>();
  const checked = new Set(files.map(({ module }) => module));
  const mounts = [
    ...listMounts(files.flatMap(describeMounts)),
    ...others.filter(({ module }) => !checked.has(module)),
  ];
  for (const checked of files) {
    if (checked.module === null) continue;
    const local = describeLocal(checked, mounts);
    // A duplicate does not change the module that has the name.
    if (local.kind === 'unknown' && modules.has(checked.module)) continue;
    modules.set(checked.module, local);
  }
  return modules;
}

function describeMounts(checked: CheckedFile) {
  if (checked.kind === 'manifest' || !checked.prepared?.descriptor.enabled) return [];
  const { module, mount: mounts } = checked.prepared.descriptor;
  return [{ module, mounts }];
}

/** `/api/orders/old, below /api/orders of module 'orders'` */
export function listTaken(name: string, mounts: readonly OuterMount[]): readonly string[] {
  return mounts.flatMap((mount) => {
    const outer = mount.module === name ? findOuterMount(mount, mounts) : undefined;
    if (outer === undefined) return [];
    return `${formatMount(mount.mount)}, below ${formatMount(outer.mount)} of module '${outer.module}'`;
  });
}

function describeLocal(checked: CheckedFile, mounts: readonly OuterMount[]): LocalModule {
  const manifest = readManifestOf(checked);
  if (checked.kind === 'descriptor') {
    if (checked.prepared === null) return { kind: 'unknown', detail: INVALID_FILE };
    if (!checked.prepared.descriptor.enabled) return { kind: 'disabled' };
  }
  if (manifest === null) {
    const detail = checked.kind === 'manifest' ? INVALID_FILE : MANIFEST_UNKNOWN;
    return { kind: 'unknown', detail };
  }
  const responses = checked.kind === 'descriptor' ? readResponses(checked) : null;
  const configDigest = checked.kind === 'descriptor' ? readConfigDigest(checked) : null;
  const access =
    checked.kind === 'descriptor' ? readAccess(checked.prepared?.descriptor, mounts) : null;
  return { kind: 'known', manifest: manifest.manifest, configDigest, responses, access };
}

function readAccess(
  descriptor: Descriptor | undefined,
  mounts: readonly OuterMount[],
): AccessFacts | null {
  if (descriptor === undefined) return null;
  const { module, allow, mount } = descriptor;
  return {
    public: descriptor.public,
    addresses: allow?.addresses ?? null,
    mounts: mount,
    taken: listTaken(module, mounts),
  };
}

function readResponses({ prepared }: Extract<CheckedFile, { kind: 'descriptor' }>) {
  if (prepared === null) return null;
  const { mode, expose_headers, redirects } = prepared.descriptor.responses;
  return { mode, expose_headers, ...(redirects.length > 0 && { redirects }) };
}
