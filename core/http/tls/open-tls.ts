import type { Roles } from '../../auth/roles.js';
import type { HostConfig } from '../../config/settings.js';
import type { Log } from '../../contract/index.js';
import { assertValidFile } from '../../document/parse-file.js';
import { ConfigError } from '../../errors.js';
import {
  openReloadedFile,
  openReloadedFiles,
  type ReloadedFile,
} from '../../watch/reloaded-file.js';
import { type CertificateTable, parseCertificateFile } from './certificate-file.js';
import { ClientCertificates } from './client-certificates.js';
import { listTlsFiles, parseTlsPair, type TlsFiles, type TlsPair } from './key-pair.js';

export type ReloadedPair = ReloadedFile<TlsPair>;

interface OpenTls {
  /** `null`: plain HTTP. */
  readonly pair: ReloadedPair | null;
  /** `null`: client certificates are not used. */
  readonly certificates: ClientCertificates | null;
  close(): Promise<void>;
}

type TlsConfig = Pick<HostConfig, 'tlsCert' | 'tlsKey' | 'tlsClientCa' | 'tlsClients'>;

/** @throws ConfigError for settings that require each other, and for unusable files. */
export async function openTls(config: TlsConfig, roles: Roles, log: Log): Promise<OpenTls> {
  const { tlsCert: cert, tlsKey: key, tlsClientCa: clientCa, tlsClients: clients } = config;
  requireBoth(['--tls-cert', cert], ['--tls-key', key]);
  requireBoth(['--tls-client-ca', clientCa], ['--tls-clients', clients]);
  if (cert === null || key === null) {
    if (clientCa !== null)
      throw new ConfigError('--tls-client-ca requires --tls-cert and --tls-key');
    return { pair: null, certificates: null, close: async () => {} };
  }
  const known = clients === null ? null : await openClients(clients, log);
  const pair = await openPair({ cert, key, clientCa }, log);
  return {
    pair,
    certificates: known === null ? null : new ClientCertificates(() => known.current, roles),
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

/** Follows the files together: a new pair is used once both are written and match. */
async function openPair(files: TlsFiles, log: Log): Promise<ReloadedPair> {
  try {
    return await openReloadedFiles(listTlsFiles(files), {
      log,
      name: 'certificate',
      parse: async (contents) => {
        const pair = await parseTlsPair(files, contents);
        reportExposure(files, pair, log);
        return pair;
      },
      describe: ({ certificate }) => ({ valid_to: certificate.validTo }),
    });
  } catch (error) {
    throw assertValidFile(error);
  }
}

function reportExposure({ key }: TlsFiles, { isKeyExposed }: TlsPair, log: Log): void {
  if (!isKeyExposed) return;
  log.warn({ file: key }, 'private key readable by other users: chmod 600');
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
