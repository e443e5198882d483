import { type PluginStatus, pluginList, type SurfaceStatus } from '../../contract/plugin-status.js';
import { createToken } from '../../injection.js';
import { defineListing } from '../listing.js';
import { defineResource } from '../resource.js';

export const PLUGINS = createToken<PluginStatuses>('plugins');

interface PluginStatuses {
  /** Lists plugins in the order of their discovery: of two with one kind, the first is used. */
  list(): readonly PluginStatus[];
}

export const SURFACES = createToken<SurfaceStatuses>('surfaces');

interface SurfaceStatuses {
  list(): readonly SurfaceStatus[];
}

const SURFACE_TABLE = {
  rows: 'surfaces',
  title: 'Surfaces',
  columns: {
    name: { title: 'Surface' },
    prefix: { title: 'Prefix', as: 'code' },
    plugin: { title: 'Plugin' },
    state: { title: 'State' },
    reason: { title: 'Reason', as: 'sentence' },
  },
} as const;

/** Lists the state of each plugin, and of each surface. */
export const PLUGIN_LIST = defineResource({
  text: 'state, integrity, reason and hint of each [plugin](../operate/plugins.md#state-of-a-running-host), and whether each surface is `open`, `failed` or `off`',
  listing: defineListing({
    struct: pluginList,
    rows: 'plugins',
    title: 'Plugins',
    page: 'Plugins',
    more: [SURFACE_TABLE],
    columns: {
      name: { title: 'Name' },
      version: { title: 'Version' },
      origin: { title: 'Origin', only: 'page' },
      state: { title: 'State', as: 'state' },
      integrity: { title: 'Integrity' },
      kinds: { title: 'Kinds', as: 'names' },
      authenticators: { title: 'Authenticators', as: 'names' },
      surfaces: { title: 'Surfaces', as: 'names' },
      // Few plugins have any.
      signers: { title: 'Signers', as: 'names', isSparse: true },
      importers: { title: 'Importers', as: 'names', isSparse: true },
      reason: { title: 'Reason', as: 'sentence', detail: 'hint', only: 'page' },
    },
    linesOf: ({ origin, folder, reason, hint }) => [
      ...(origin === 'shipped' ? [] : [`  ${folder}`]),
      ...(reason === null ? [] : [`  ${reason}`]),
      ...(hint === null ? [] : [`  hint: ${hint}`]),
    ],
  }),
  needs: [PLUGINS, SURFACES],
  answer: (_call, plugins, surfaces) => ({ plugins: plugins.list(), surfaces: surfaces.list() }),
});
