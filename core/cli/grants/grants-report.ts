import type { Manifest } from '../../contract/index.js';
import type { Descriptor } from '../../descriptor/descriptor.js';
import type { LoadedManifest } from '../../manifest/load-manifest.js';

/** Whether the manifest has the digest that `manifest_digest` pins; `unknown` without a local manifest. */
export type Pin = 'absent' | 'fits' | 'differs' | 'unknown';

export interface ReportedPermission {
  readonly permission: string;
  readonly granted: boolean;
  /** Whether it is in `capabilities` of the manifest; `null` without a local manifest. */
  readonly declared: boolean | null;
  /** The entities and actions that require it: `entity contacts`, `action sync`. */
  readonly opens: readonly string[];
}

/** The output of `modgate grants --json`, with wire names. */
export interface GrantsReport {
  readonly module: string;
  /** `null` without a local manifest. */
  readonly module_id: string | null;
  /** As in diagnostics. */
  readonly file: string;
  readonly enabled: boolean;
  readonly manifest_from: Descriptor['manifest']['kind'];
  readonly manifest_digest: string | null;
  readonly pin: Pin;
  /** The `moduleReleaseDigest` that consoles must send; `null` where the local manifest is missing. */
  readonly release: string | null;
  readonly ui: readonly string[];
  readonly grants: readonly string[];
  /** The declared ones in the order of the manifest, then those that are granted but not declared. */
  readonly permissions: readonly ReportedPermission[];
  /** Declared by the manifest but not granted. */
  readonly not_granted: readonly string[];
  /** Granted without effect, because the manifest does not declare them. */
  readonly not_declared: readonly string[];
}

export function createGrantsReport(
  descriptor: Descriptor,
  read: LoadedManifest | null,
  file: string,
): GrantsReport {
  const { release, ui, grants } = descriptor.console;
  const permissions = listPermissions(grants, read?.manifest ?? null);
  const select = (isSelected: (permission: ReportedPermission) => boolean) =>
    permissions.filter(isSelected).map(({ permission }) => permission);
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
