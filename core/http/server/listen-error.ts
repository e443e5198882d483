import { isIPv6 } from 'node:net';
import type { ReadConfig } from '../../config/read-config.js';
import { ConfigError } from '../../errors.js';

type Place = ReadConfig<'host' | 'port'>;

/** What `server.listen` says about the address rather than about the host: contract 8, exit 2. */
const WORDS: Readonly<Record<string, { setting: 'host' | 'port'; text: string }>> = {
  EADDRINUSE: { setting: 'port', text: 'is in use already' },
  EACCES: { setting: 'port', text: 'may not be used by this user' },
  EADDRNOTAVAIL: { setting: 'host', text: 'is no address of this machine' },
  ENOTFOUND: { setting: 'host', text: 'is a name that does not resolve' },
  EAI_AGAIN: { setting: 'host', text: 'is a name that does not resolve' },
};

/** The error that ops get to see: a ConfigError when another address helps, else the error itself. */
export function describeListenError(error: unknown, place: Place): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const words = WORDS[code];
  if (words === undefined) return error;
  const { host, port } = place.config;
  const subject = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return new ConfigError(`${place.sources[words.setting]}: ${subject} ${words.text}`, {
    cause: error,
  });
}
