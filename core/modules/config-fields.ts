import type { ConfigField, Manifest } from '../contract/index.js';
import { explainMismatch } from '../manifest/config-rules.js';
import type { StoredConfig } from '../store/config-values.js';

/** The key of a value in a delivery and in the store. */
export function fieldName({ service, key }: Pick<ConfigField, 'service' | 'key'>): string {
  return `${service}/${key}`;
}

export function listConfigFields(manifest: Manifest): readonly ConfigField[] {
  return manifest.config?.fields ?? [];
}

/** The bridge never returns a secret in clear text. Generated values are secrets too. */
export function isSecret({ sensitive, generated }: ConfigField): boolean {
  return sensitive === true || generated !== undefined;
}

/** Lists the names in the form that `store.config.read` expects. */
export function listSecretNames(fields: readonly ConfigField[]): ReadonlySet<string> {
  return new Set(fields.filter(isSecret).map(fieldName));
}

/**
 * The value is the stored one, otherwise the default, otherwise `undefined`. A stored value that the current
 * manifest does not allow is ignored. A value that cannot be decrypted leaves the field without any value,
 * because a module is worse off with a wrong secret than with none.
 */
export function readEffective(field: ConfigField, stored: StoredConfig): unknown {
  if (stored.unreadable.has(fieldName(field))) return undefined;
  const storedValue = stored.values.get(fieldName(field));
  if (storedValue === undefined || explainMismatch(storedValue, field.type) !== null)
    return field.default;
  return storedValue;
}

/** The fields whose stored value is ignored, each with the reason and without the value. */
export function findUnusable(
  fields: readonly ConfigField[],
  stored: StoredConfig,
): { readonly field: string; readonly reason: string }[] {
  return fields.flatMap((field) => {
    const name = fieldName(field);
    const unreadable = stored.unreadable.get(name);
    if (unreadable !== undefined) return [{ field: name, reason: unreadable.message }];
    const storedValue = stored.values.get(name);
    const expected = storedValue === undefined ? null : explainMismatch(storedValue, field.type);
    return expected === null ? [] : [{ field: name, reason: `must be ${expected}` }];
  });
}
