import { BUILT_IN_AUTHENTICATORS } from '../../config/authenticator-list.js';
import { ConfigError } from '../../errors.js';
import { HOST_PREFIXES } from '../../http/surfaces/surface-path.js';
import { SHIPPED_PLUGINS } from '../../plugin-loader/find-plugins.js';
import { OWN_IMPORTER } from '../../plugin-loader/plugin-manifest.js';
import { readPlugins } from '../../plugin-loader/plugin-registry.js';

export type PluginTemplate = 'plugin' | 'surface' | 'authenticator' | 'signer' | 'importer';

/**
 * A host rejects a plugin with the name of a shipped one, and one whose part has the name of a part
 * of that type which modgate has itself.
 * @param part the kind, or the name of the surface, authenticator, signer or importer
 * @throws ConfigError
 */
export async function assertPluginName(
  name: string,
  part: string,
  template: PluginTemplate,
): Promise<void> {
  const shipped = (await readPlugins([SHIPPED_PLUGINS])).list();
  const taken: Readonly<Record<PluginTemplate, readonly string[]>> = {
    plugin: shipped.flatMap(({ kinds }) => kinds),
    surface: [
      ...shipped.flatMap(({ surfaces }) => surfaces),
      ...[...HOST_PREFIXES].map((prefix) => prefix.slice(1)),
    ],
    authenticator: [...BUILT_IN_AUTHENTICATORS],
    signer: [],
    importer: [...shipped.flatMap(({ importers }) => importers), OWN_IMPORTER],
  };
  if (!shipped.some((plugin) => plugin.name === name) && !taken[template].includes(part)) return;
  throw new ConfigError(
    `'${part}' is a name of modgate itself: choose another, such as acme-${part}`,
  );
}
