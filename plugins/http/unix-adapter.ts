import { isAbsolute } from 'node:path';
import { defineAdapter } from '../../core/contract/index.js';
import { httpTransport, type UnixConfig, unixConfig } from './config.js';
import { openLocalProvider, SUPPORTS } from './http-adapter.js';

/** `sun_path` of Linux holds 108 bytes with its terminating zero (unix(7)); macOS has four fewer. */
const MAX_SOCKET_PATH_BYTES = 107;

/** Kind `unix`: HTTP over a Unix domain socket. */
export const unixAdapter = defineAdapter({
  kind: 'unix',
  config: unixConfig,
  supports: SUPPORTS,
  describeConfig: (config) => ({
    ...httpTransport.describe(config),
    hostUses: [{ kind: 'socket', name: config.socket }],
  }),
  tryCredentials: (config, context) => httpTransport.tryCredentials(config, context),
  open: (config: UnixConfig, context) => {
    const path = isAbsolute(config.socket) ? config.socket : context.path(config.socket);
    if (Buffer.byteLength(path) > MAX_SOCKET_PATH_BYTES) {
      throw new Error(`socket must be a path of at most ${MAX_SOCKET_PATH_BYTES} bytes`);
    }
    const replica = {
      id: `unix:${config.socket}`,
      weight: 1,
      origin: 'http://localhost',
      prefix: '',
      address: { kind: 'unix', path },
    } as const;
    return openLocalProvider(replica, config, context);
  },
});
