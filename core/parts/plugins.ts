import { settingFlag } from '../config/settings.js';
import { SurfaceRegistry } from '../http/surfaces/surface-registry.js';
import { SHIPPED_UI } from '../operations/console/shipped-ui.js';
import { LOG } from '../operations/injection-tokens.js';
import { PLUGINS, SURFACES } from '../operations/status/list-plugins.js';
import { openPlugins } from '../plugin-loader/open-plugins.js';
import { CONFIG, definePart, provide } from './part.js';

/** The plugins, which are imported when something first needs them. */
export const PLUGINS_PART = definePart('plugins', [CONFIG, LOG], async (config, log) => {
  const plugins = await openPlugins(config, settingFlag('plugins'), log);
  const surfaces = new SurfaceRegistry(plugins);
  return {
    plugins,
    /** Opened once the listener can serve their requests. */
    surfaces,
    provides: [
      provide(PLUGINS, plugins),
      provide(SURFACES, surfaces),
      provide(SHIPPED_UI, surfaces),
    ],
  };
});
