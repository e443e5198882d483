import { type AddressInfo, isIPv6, type Server } from 'node:net';
import type { ReadConfig } from '../../config/read-config.js';
import { ConfigError } from '../../errors.js';

type Place = ReadConfig<'host' | 'port'>;

/** The errors of `server.listen` about the address, which is a setting. */
const PROBLEMS: Readonly<Record<string, { setting: 'host' | 'port'; text: string }>> = {
  EADDRINUSE: { setting: 'port', text: 'is already in use' },
  EACCES: { setting: 'port', text: 'needs permissions that this user lacks' },
  EADDRNOTAVAIL: { setting: 'host', text: 'is not an address of this machine' },
  ENOTFOUND: { setting: 'host', text: 'does not resolve' },
  EAI_AGAIN: { setting: 'host', text: 'does not resolve' },
};

/** @throws the error of `server.listen`: EADDRINUSE, EACCES, EADDRNOTAVAIL. @returns the URL */
export function listen(
  server: Server,
  scheme: string,
  host: string,
  port: number,
): Promise<string> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      const { address, port: chosen } = server.address() as AddressInfo;
      resolve(`${scheme}://${isIPv6(address) ? `[${address}]` : address}:${chosen}`);
    });
  });
}

/** Returns a ConfigError if another address would help, otherwise the error itself. */
export function describeListenError(error: unknown, place: Place): unknown {
  const { code = '' } = error as NodeJS.ErrnoException;
  const problem = PROBLEMS[code];
  if (problem === undefined) return error;
  const { host, port } = place.config;
  const subject = `${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return new ConfigError(`${place.sources[problem.setting]}: ${subject} ${problem.text}`, {
    cause: error,
  });
}
