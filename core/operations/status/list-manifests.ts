import type { ConfigField, Manifest } from '../../contract/index.js';
import { injectable } from '../../injection.js';
import { compareNames } from '../../lib/compare-texts.js';
import type { GenerationSource } from '../../modules/live-module.js';
import { ModuleRegistry } from '../../modules/module-registry.js';
import { authorize } from '../authorization.js';
import { type Handler, Reply } from '../reply.js';
import type { CallerRequest } from '../request.js';

/**
 * Handles `GET /manifests`: lists the manifest of every live module, or of a named one, by name;
 * `digest` covers the complete manifest.
 */
@injectable(ModuleRegistry)
export class ListManifests implements Handler<string | null> {
  readonly #generations: GenerationSource;

  constructor(generations: GenerationSource) {
    this.#generations = generations;
  }

  async execute(only: string | null, request: CallerRequest): Promise<Reply> {
    const authorization = authorize(request.actor, {
      kind: 'scope',
      scope: 'modgate.modules.read',
    });
    const all = [...this.#generations.current.values()];
    const modules = all.filter(({ name }) => only === null || name === only).sort(compareNames);
    const manifests = modules.map(({ name, manifestDigest, manifest }) => {
      return { name, digest: manifestDigest, manifest: hideSensitiveDefaults(manifest) };
    });
    return Reply.json(authorization, { manifests });
  }
}

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
