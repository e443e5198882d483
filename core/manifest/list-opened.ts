import type { Manifest } from '../contract/index.js';

type Opening = Pick<Manifest, 'admin' | 'config'>;

/**
 * Lists the parts of the console bridge that a permission opens: `entity contacts`, `action sync`,
 * `configuration (read)`.
 */
export function listPermittedParts(permission: string, manifest: Opening): string[] {
  const { entities = [], actions = [] } = manifest.admin ?? {};
  return [
    ...entities
      .filter(({ read_capability }) => read_capability === permission)
      .map(({ name }) => `entity ${name}`),
    ...actions
      .filter(({ capability }) => capability === permission)
      .map(({ name }) => `action ${name}`),
    ...(readsConfig(permission, manifest) ? ['configuration (read)'] : []),
    ...(writesConfig(permission, manifest) ? ['configuration (write)'] : []),
  ];
}

/** Whether the manifest declares `config_values` for the permission. */
export function readsConfig(permission: string, manifest: Opening): boolean {
  const { read_capability, fields = [] } = manifest.config ?? {};
  if (fields.length === 0) return false;
  return permission === read_capability || writesConfig(permission, manifest);
}

/** Whether the manifest declares `config_write` of its editable fields for the permission. */
export function writesConfig(permission: string, { config }: Opening): boolean {
  return permission === config?.write_capability;
}
