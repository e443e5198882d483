import { array, type Infer, nullable, string, type } from 'superstruct';

const pluginEntry = type({
  name: string(),
  version: nullable(string()),
  origin: string(),
  folder: string(),
  kinds: array(string()),
  authenticators: array(string()),
  state: string(),
  integrity: string(),
  reason: nullable(string()),
  hint: nullable(string()),
});

/** What `modgate plugins` reads of `GET /plugins`; a host may say more. */
export const pluginList = type({ plugins: array(pluginEntry) });

type Entry = Infer<typeof pluginEntry>;

/** As a host answers it, or as it is read from the folders. */
export interface PluginListEntry extends Omit<Entry, 'kinds' | 'authenticators'> {
  readonly kinds: readonly string[];
  readonly authenticators: readonly string[];
}

export const PLUGINS_PATH = '/plugins';
