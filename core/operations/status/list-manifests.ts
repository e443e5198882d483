import type { ConfigField, Manifest } from '../../contract/index.js';
import { compareNames } from '../../lib/compare-texts.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { moduleParameter } from '../query.js';
import { defineResource } from '../resource.js';

/** Lists the manifest of every live module, or of a named one, by name. */
export const MANIFESTS = defineResource({
  text: '`{"manifests":[{name, digest, manifest}]}` of live modules, by name; without the defaults of sensitive fields, while `digest` is that of the whole manifest; `?module=` limits it to one',
  query: { module: moduleParameter },
  needs: [ModuleRegistry],
  answer: ({ query }, { current }) => {
    const modules = [...current.values()]
      .filter(({ name }) => query.module === null || name === query.module)
      .sort(compareNames);
    const manifests = modules.map(({ name, manifestDigest, manifest }) => {
      return { name, digest: manifestDigest, manifest: hideSensitiveDefaults(manifest) };
    });
    return { manifests };
  },
});

/** Removes the defaults of sensitive fields, which are secrets of the module. */
export function hideSensitiveDefaults(manifest: Manifest): Manifest {
  const { config } = manifest;
  if (!config?.fields?.some(hasSecretDefault)) return manifest;
  return { ...manifest, config: { ...config, fields: config.fields.map(hideDefault) } };
}

function hasSecretDefault({ sensitive, default: value }: ConfigField): boolean {
  return sensitive === true && value !== undefined;
}

function hideDefault(field: ConfigField): ConfigField {
  if (!hasSecretDefault(field)) return field;
  const { default: _secret, ...visibleField } = field;
  return visibleField;
}
