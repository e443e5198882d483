import { BUILT_IN_AUTHENTICATORS } from '../../config/authenticator-list.js';
import { ConfigError } from '../../errors.js';
import { HOST_PREFIXES } from '../../http/surfaces/surface-path.js';
import { SHIPPED_PLUGINS } from '../../plugin-loader/find-plugins.js';
import { OWN_IMPORTER } from '../../plugin-loader/plugin-manifest.js';
import { readPlugins } from '../../plugin-loader/plugin-registry.js';

/**
 * A host rejects a plugin with a name, a kind or another part that modgate has itself.
 * @throws ConfigError
 */
export async function assertPluginName(name: string): Promise<void> {
  const plugins = (await readPlugins([SHIPPED_PLUGINS])).list();
  const names = new Set([
    ...plugins.flatMap(({ name, kinds, importers, surfaces }) => [
      name,
      ...kinds,
      ...importers,
      ...surfaces,
    ]),
    ...BUILT_IN_AUTHENTICATORS,
    ...[...HOST_PREFIXES].map((prefix) => prefix.slice(1)),
    OWN_IMPORTER,
  ]);
  if (!names.has(name)) return;
  throw new ConfigError(
    `'${name}' is a name of modgate itself: choose another, such as acme-${name}`,
  );
}
