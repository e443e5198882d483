import { any, array, type Infer, optional, string, type } from 'superstruct';
import type { ManifestRoute } from '../../contract/index.js';
import { parseRouteTemplate, TemplateError } from '../../lib/route-template.js';
import type { HostClient } from '../client/host-client.js';
import { requestJson } from '../client/host-response.js';
import { MODULES_PATH, moduleList } from '../client/module-list.js';
import { CommandError } from '../command-error.js';
import type { ServedModule } from './blast-radius.js';
import type { ResponseFacts } from './local-modules.js';

/** What a host leaves out. */
const ENVELOPE: ResponseFacts = { mode: 'envelope', expose_headers: [] };

const manifestList = type({
  manifests: array(
    type({
      name: string(),
      digest: string(),
      manifest: type({
        module_id: string(),
        capabilities: array(string()),
        http_routes: array(
          type({
            method: string(),
            path: string(),
            capability: optional(string()),
            operation: any(),
          }),
        ),
      }),
    }),
  ),
});

/** @throws CommandError when the host is unreachable or rejects the request. */
export async function readServedModules(client: HostClient): Promise<ServedModule[]> {
  const { manifests } = await requestJson(client, '/manifests', manifestList);
  const { modules } = await requestJson(client, MODULES_PATH, moduleList);
  const byName = new Map(
    modules.filter(({ digest }) => digest !== null).map((module) => [module.name, module]),
  );
  return manifests.map(({ name, manifest }) => ({
    name,
    file: byName.get(name)?.file ?? null,
    configDigest: byName.get(name)?.config_digest ?? null,
    manifest: readManifest(client, manifest),
    responses: byName.get(name)?.responses ?? ENVELOPE,
  }));
}

type ServedManifest = Infer<typeof manifestList>['manifests'][number]['manifest'];

/** The host has validated the manifest. A newer host may allow more than this version. */
function readManifest(client: HostClient, manifest: ServedManifest): ServedModule['manifest'] {
  try {
    for (const { path } of manifest.http_routes) parseRouteTemplate(path);
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    throw new CommandError(`${client.url} serves a manifest that this version does not support`);
  }
  return { ...manifest, http_routes: manifest.http_routes as readonly ManifestRoute[] };
}
