import type { Server } from 'node:http';
import type { TLSSocket } from 'node:tls';
import type { Roles } from '../../auth/roles.js';
import type { HostConfig } from '../../config/settings.js';
import type { Log } from '../../contract/index.js';
import { assertValidFile } from '../../document/parse-file.js';
import { ConfigError } from '../../errors.js';
import { type Attempt, attemptOrThrow } from '../../lib/attempt.js';
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
  /** `null` for plain HTTP. */
  readonly pair: ReloadedPair | null;
  /** `null` without client certificates. */
  readonly certificates: ClientCertificates | null;
  close(): Promise<void>;
}

type TlsConfig = Pick<HostConfig, 'tlsCert' | 'tlsKey' | 'tlsClientCa' | 'tlsClients'>;

/**
 * @param attempt receives each problem; without it the first one throws
 * @throws ConfigError for settings that require each other, and for unusable files.
 */
export async function openTls(
  config: TlsConfig,
  roles: Roles,
  log: Log,
  attempt: Attempt = attemptOrThrow,
): Promise<OpenTls> {
  const { tlsCert: cert, tlsKey: key, tlsClientCa: clientCa, tlsClients: clients } = config;
  await attempt(() => requireBoth(['--tls-cert', cert], ['--tls-key', key]));
  await attempt(() => requireBoth(['--tls-client-ca', clientCa], ['--tls-clients', clients]));
  await attempt(() => requireCertificate(config));
  const table = clients === null ? null : await attempt(() => openClients(clients, log));
  const pair =
    cert === null || key === null
      ? null
      : await attempt(() => openPair({ cert, key, clientCa }, log));
  return {
    pair,
    certificates: table === null ? null : new ClientCertificates(() => table.current, roles),
    close: async () => {
      await pair?.close();
      await table?.close();
    },
  };
}

function requireBoth(
  ...settings: readonly (readonly [flag: string, value: string | null])[]
): void {
  const configured = settings.filter(([, value]) => value !== null);
  const missing = settings.find(([, value]) => value === null);
  if (configured[0] === undefined || missing === undefined) return;
  throw new ConfigError(`${configured[0][0]} requires ${missing[0]}`);
}

function requireCertificate({ tlsCert, tlsKey, tlsClientCa }: TlsConfig): void {
  if (tlsClientCa === null || tlsCert !== null || tlsKey !== null) return;
  throw new ConfigError('--tls-client-ca requires --tls-cert and --tls-key');
}

/** Watches the files together: a new pair is used once both are written and match. */
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

/**
 * The time for requests in flight; then connections with a certificate of the previous client CA
 * are closed.
 */
const GRACE_MS = 1000;

/**
 * Tracks connections with a client certificate.
 * @returns a function that closes them when the client CA changes, because it may have been
 * withdrawn
 */
export function closeWithdrawnClients(server: Server, tls: ReloadedPair): () => void {
  if (tls.current.ca === null) return () => {};
  const clients = new Set<TLSSocket>();
  server.on('secureConnection', (socket: TLSSocket) => {
    if (!socket.authorized) return;
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
  });
  return () => {
    const withdrawn = [...clients];
    const destroy = () => {
      for (const socket of withdrawn) socket.destroy();
    };
    setTimeout(destroy, GRACE_MS).unref();
  };
}
