import { array, type Infer, nullable, string, type } from 'superstruct';

const pluginEntry = type({
  name: string(),
  version: nullable(string()),
  origin: string(),
  folder: string(),
  kinds: array(string()),
  authenticators: array(string()),
  surfaces: array(string()),
  state: string(),
  integrity: string(),
  reason: nullable(string()),
  hint: nullable(string()),
});

/** The fields of `GET /plugins` that `modgate plugins` uses. */
export const pluginList = type({ plugins: array(pluginEntry) });

type Entry = Infer<typeof pluginEntry>;

/** From a host or from the folders of plugins. */
export interface PluginListEntry extends Omit<Entry, 'kinds' | 'authenticators' | 'surfaces'> {
  readonly kinds: readonly string[];
  readonly authenticators: readonly string[];
  readonly surfaces: readonly string[];
}

export const PLUGINS_PATH = '/plugins';
