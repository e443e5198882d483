import type { Authenticator, NodeConnectionOptions } from '@nats-io/transport-node';
import type { OpenContext } from '../../core/contract/index.js';
import { createClientTls, readClientCertificates } from '../shared/client-tls.js';
import { DEFAULT_INBOX, type NatsConfig } from './config.js';

/** The time for connection, TLS and greeting together, below the default timeout of a module (5 s). */
const CONNECT_TIMEOUT_MS = 4_000;

/** A server that disappeared is detected after two missed pings. */
const PING_INTERVAL_MS = 10_000;
const MAX_PINGS_OUT = 2;

const DEFAULT_PORT = '4222';

export interface NatsServer {
  /** Shown to operators. */
  readonly name: string;
  readonly options: NodeConnectionOptions;
}

/**
 * Creates one entry per server; they are tried in turn. @throws Error for an invalid certificate or
 * key.
 */
export function createConnectOptions(
  config: NatsConfig,
  authenticator: Authenticator | null,
  { module, file }: OpenContext,
): NatsServer[] {
  const certificates = config.tls === undefined ? null : readClientCertificates(config.tls, file);
  return config.servers.map((text) => {
    const { protocol, hostname, port } = new URL(text);
    const host = hostname.replace(/^\[|\]$/g, '');
    const isTls = protocol === 'tls:' || certificates !== null;
    const name = `${hostname}:${port || DEFAULT_PORT}`;
    const options: NodeConnectionOptions = {
      servers: name,
      name: `modgate ${module}`,
      timeout: CONNECT_TIMEOUT_MS,
      // The link reconnects: the library would buffer messages and send them late.
      reconnect: false,
      ignoreClusterUpdates: true,
      pingInterval: PING_INTERVAL_MS,
      maxPingOut: MAX_PINGS_OUT,
      inboxPrefix: config.inbox ?? DEFAULT_INBOX,
      ...(authenticator !== null && { authenticator }),
      ...(isTls && { tls: createClientTls(certificates ?? {}, host) }),
    };
    return { name, options };
  });
}
