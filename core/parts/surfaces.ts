import { listEnabledSurfaces } from '../config/surface-list.js';
import { describeResources, loadResources } from '../http/routes/host-resources.js';
import { readSnapshot } from '../http/surfaces/read-snapshot.js';
import { LOG } from '../operations/injection-tokens.js';
import { ACCESS } from './access.js';
import { LISTENER } from './listener.js';
import { MODULES } from './modules.js';
import { CONFIG, definePart } from './part.js';
import { PLUGINS_PART } from './plugins.js';
import { STORAGE } from './storage.js';

/** The enabled surfaces; they are called once the host listens. */
export const SURFACES_PART = definePart(
  'surfaces',
  [CONFIG, LOG, PLUGINS_PART.token, ACCESS.token, STORAGE.token, MODULES.token, LISTENER.token],
  async (config, log, { plugins, surfaces }, access, { store }, modules, listener) => {
    const { authentication, issuers } = access;
    const { registry, overview } = modules;
    await surfaces.open(listEnabledSurfaces(config.surfaces, plugins.surfaces()), {
      log,
      chain: authentication.chain,
      authFailures: authentication.authFailures,
      issuers,
      actorRate: authentication.actorRate,
      store,
      server: listener.inProcess,
      resources: describeResources(await loadResources()),
      modules: {
        snapshot: () => readSnapshot(overview, registry, config.fleet),
        onChange: (listen) => registry.onChange(listen),
      },
    });
    return { close: () => surfaces.close() };
  },
);
