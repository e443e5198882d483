import type { ConfigField, Manifest } from '../contract/index.js';

/** The manifest as others may see it: a default of a sensitive field is a secret of the module. */
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
  const { default: _secret, ...shown } = field;
  return shown;
}
