import canonicalize from 'canonicalize';
import type { ConfigField, Manifest } from '../contract/index.js';
import { explainMismatch } from '../manifest/config-rules.js';
import type { StoredConfig } from '../store/store.js';

/** How values are keyed on delivery and in the store. */
export function fieldName({ service, key }: Pick<ConfigField, 'service' | 'key'>): string {
  return `${service}/${key}`;
}

export function listConfigFields(manifest: Manifest): readonly ConfigField[] {
  return manifest.config?.fields ?? [];
}

/** A secret never leaves in clear through the bridge; one that is made is a secret too. */
export function isSecret({ sensitive, generated }: ConfigField): boolean {
  return sensitive === true || generated !== undefined;
}

/** As `Store.readConfig` takes them. */
export function listSecretNames(fields: readonly ConfigField[]): ReadonlySet<string> {
  return new Set(fields.filter(isSecret).map(fieldName));
}

/**
 * What a field is worth: the stored value, else its default, else `undefined`. A stored value that the
 * manifest of today does not admit counts as none: the module must not be given what it does not expect.
 * One that does not decrypt leaves the field without any value: with a wrong secret a module is worse off.
 */
export function readEffective(field: ConfigField, stored: StoredConfig): unknown {
  if (stored.unreadable.has(fieldName(field))) return undefined;
  const kept = stored.values.get(fieldName(field));
  if (kept !== undefined && explainMismatch(kept.value, field.type) === null) return kept.value;
  return field.default;
}

/** The fields whose stored value counts for nothing, each with the reason and without the value. */
export function findUnusable(
  fields: readonly ConfigField[],
  stored: StoredConfig,
): { readonly field: string; readonly reason: string }[] {
  return fields.flatMap((field) => {
    const name = fieldName(field);
    const unreadable = stored.unreadable.get(name);
    if (unreadable !== undefined) return [{ field: name, reason: unreadable.message }];
    const kept = stored.values.get(name);
    const expected = kept === undefined ? null : explainMismatch(kept.value, field.type);
    return expected === null ? [] : [{ field: name, reason: `must be ${expected}` }];
  });
}

export function isSameJson(a: unknown, b: unknown): boolean {
  return canonicalize(a) === canonicalize(b);
}
