import { type Infer, object } from 'superstruct';
import { matching, optionally } from '../../core/contract/index.js';
import { health, requestPath } from '../shared/health-config.js';
import { defineTransport } from '../shared/transport/define-transport.js';

export const DEFAULT_MANIFEST_PATH = '/.well-known/modgate/manifest.json';

export const manifestPath = optionally(requestPath, {
  default: DEFAULT_MANIFEST_PATH,
  description: 'Where the provider serves its manifest, for manifest: { from: provider }.',
});

export const httpTransport = defineTransport({ scheme: 'http', paths: true });

const { members, checked } = httpTransport;
const common = {
  health: optionally(health, {}),
  auth: members.auth,
  manifest_path: manifestPath,
};

/** `provider.config` of kind `http`. */
export const httpConfig = checked(object({ ...members, ...common }));

/** `provider.config` of kind `unix`: `socket` is absolute or relative to the descriptor. */
export const unixConfig = object({
  socket: matching('path of a socket', /^[^\0\n]+$/, {
    pattern: '^[^\\u0000\\n]+$',
    description: 'Path of the socket, absolute or relative to the descriptor.',
  }),
  ...common,
});

export type HttpConfig = Infer<typeof httpConfig>;
export type UnixConfig = Infer<typeof unixConfig>;
