import type { Manifest } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import type { LoadedManifest } from '../../manifest/load-manifest.js';

/** Whether the manifest is the one that `manifest_digest` pins; `unknown` without a manifest at hand. */
export type Pin = 'absent' | 'fits' | 'differs' | 'unknown';

export interface ReportedPermission {
  readonly permission: string;
  readonly granted: boolean;
  /** Whether `capabilities` of the manifest holds it; `null` without a manifest at hand. */
  readonly declared: boolean | null;
  /** What it alone opens: `entity contacts`, `action sync`. */
  readonly opens: readonly string[];
}

/** What `modgate grants --json` prints, names as on the wire. */
export interface GrantsReport {
  readonly module: string;
  /** `null` without a manifest at hand. */
  readonly module_id: string | null;
  /** As findings name it. */
  readonly file: string;
  readonly enabled: boolean;
  readonly manifest_from: Descriptor['manifest']['kind'];
  readonly manifest_digest: string | null;
  readonly pin: Pin;
  /** What consoles must name as `moduleReleaseDigest`; `null` where it is that of a manifest not at hand. */
  readonly release: string | null;
  readonly ui: readonly string[];
  readonly grants: readonly string[];
  /** Declared, in the order of the manifest, then granted and not declared. */
  readonly permissions: readonly ReportedPermission[];
  /** Declared by the manifest, granted to nobody. */
  readonly not_granted: readonly string[];
  /** Granted, and of no use: the manifest does not declare them. */
  readonly not_declared: readonly string[];
}

export function reportGrants(
  descriptor: Descriptor,
  read: LoadedManifest | null,
  file: string,
): GrantsReport {
  const { release, ui, grants } = descriptor.console;
  const permissions = listPermissions(grants, read?.manifest ?? null);
  const select = (wanted: (one: ReportedPermission) => boolean) =>
    permissions.filter(wanted).map(({ permission }) => permission);
  return {
    module: descriptor.module,
    module_id: read?.manifest.module_id ?? null,
    file,
    enabled: descriptor.enabled,
    manifest_from: descriptor.manifest.kind,
    manifest_digest: read?.digest ?? null,
    pin: comparePin(descriptor.manifestDigest, read),
    release: release ?? read?.digest ?? null,
    ui,
    grants,
    permissions,
    not_granted: select(({ granted, declared }) => declared === true && !granted),
    not_declared: select(({ granted, declared }) => declared === false && granted),
  };
}

function comparePin(pinned: string | null, read: LoadedManifest | null): Pin {
  if (pinned === null) return 'absent';
  if (read === null) return 'unknown';
  return pinned === read.digest ? 'fits' : 'differs';
}

function listPermissions(
  grants: readonly string[],
  manifest: Manifest | null,
): ReportedPermission[] {
  const declared = manifest?.capabilities ?? [];
  return [...new Set([...declared, ...grants])].map((permission) => ({
    permission,
    granted: grants.includes(permission),
    declared: manifest === null ? null : declared.includes(permission),
    opens: manifest === null ? [] : listOpened(permission, manifest),
  }));
}

function listOpened(permission: string, { admin }: Manifest): string[] {
  const { entities = [], actions = [] } = admin ?? {};
  return [
    ...entities
      .filter(({ read_capability }) => read_capability === permission)
      .map(({ name }) => `entity ${name}`),
    ...actions
      .filter(({ capability }) => capability === permission)
      .map(({ name }) => `action ${name}`),
  ];
}
