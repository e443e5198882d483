import type { HostConfig } from '../../config/settings.js';
import type { Log } from '../../contract/index.js';
import { assertValidFile } from '../../document/parse-file.js';
import { ConfigError } from '../../errors.js';
import { openReloadedFile } from '../../watch/reloaded-file.js';
import { type CertificateTable, parseCertificateFile } from './certificate-file.js';
import { ClientCertificates } from './client-certificates.js';
import { openReloadedPair, type ReloadedPair } from './reloaded-pair.js';

export interface OpenTls {
  /** `null`: plain HTTP. */
  readonly pair: ReloadedPair | null;
  /** `null`: client certificates are not used. */
  readonly certificates: ClientCertificates | null;
  close(): Promise<void>;
}

type TlsConfig = Pick<HostConfig, 'tlsCert' | 'tlsKey' | 'tlsClientCa' | 'tlsClients'>;

/** @throws ConfigError for settings that require each other, and for unusable files. */
export async function openTls(config: TlsConfig, log: Log): Promise<OpenTls> {
  const { tlsCert: cert, tlsKey: key, tlsClientCa: clientCa, tlsClients: clients } = config;
  requireBoth(['--tls-cert', cert], ['--tls-key', key]);
  requireBoth(['--tls-client-ca', clientCa], ['--tls-clients', clients]);
  if (cert === null || key === null) {
    if (clientCa !== null)
      throw new ConfigError('--tls-client-ca requires --tls-cert and --tls-key');
    return { pair: null, certificates: null, close: async () => {} };
  }
  const known = clients === null ? null : await openClients(clients, log);
  const pair = await openReloadedPair({ cert, key, clientCa }, log);
  return {
    pair,
    certificates: known === null ? null : new ClientCertificates(() => known.current),
    close: async () => {
      await pair.close();
      await known?.close();
    },
  };
}

function requireBoth(
  ...settings: readonly (readonly [flag: string, value: string | null])[]
): void {
  const given = settings.filter(([, value]) => value !== null);
  const missing = settings.find(([, value]) => value === null);
  if (given[0] === undefined || missing === undefined) return;
  throw new ConfigError(`${given[0][0]} requires ${missing[0]}`);
}

async function openClients(file: string, log: Log) {
  try {
    return await openReloadedFile<CertificateTable>(file, {
      log,
      name: 'file of client certificates',
      parse: parseCertificateFile,
      describe: ({ size }) => ({ clients: size }),
    });
  } catch (error) {
    throw assertValidFile(error);
  }
}
