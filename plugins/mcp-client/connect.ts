import {
  Client,
  type ClientOptions,
  ProtocolError,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  type Transport,
} from '@modelcontextprotocol/client';
import { isProviderFailure } from '../../core/contract/index.js';
import { createAbortFailure } from '../shared/transport.js';
import { Exchange, exchanges, readMember } from './exchange.js';

const CLIENT = { name: 'modgate', version: '1.0.0' };

/** The revisions with a handshake, the newest first; the client itself asks for newer ones before. */
export const OLDER_VERSIONS = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;

/** A process that does not know the first message of newer revisions may ignore it. */
const SILENCE_MS = 5_000;

/** The library validates each part of the response to a handshake. */
const HANDSHAKE_BYTES = 262_144;

export interface ConnectOptions {
  /** Creates a transport for each attempt. */
  readonly createTransport: () => Transport;
  /** Whether silence means an older revision. */
  readonly isProcess: boolean;
  /** Whether the newest revision was tried without success. */
  readonly startsOlder: boolean;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly onToolsChanged: () => void;
}

/**
 * Negotiates a revision: the newest first, after a refusal those that the server names, otherwise older
 * ones.
 * @throws Error for operators, or ProviderFailure.
 */
export async function connectClient(options: ConnectOptions): Promise<Client> {
  const tried = new Set<string>();
  let refusal: unknown;
  if (!options.startsOlder) {
    try {
      return await attempt(null, options);
    } catch (error) {
      if (!isRefusal(error) && !isUnreadable(error)) throw error;
      refusal = error;
    }
  }
  for (;;) {
    const version = chooseOlder(refusal, tried);
    if (version === undefined) throw refusal;
    tried.add(version);
    try {
      return await attempt(version, options);
    } catch (error) {
      if (!isRefusal(error)) throw error;
      refusal = error;
    }
  }
}

/** A version that the server named, otherwise the next older one. */
function chooseOlder(refusal: unknown, tried: ReadonlySet<string>): string | undefined {
  const named = readMember(readMember(refusal, 'data'), 'supported');
  const left = OLDER_VERSIONS.filter((version) => !tried.has(version));
  const supported = left.find((version) => Array.isArray(named) && named.includes(version));
  return supported ?? left[0];
}

/** Whether the server answered, and did not accept the revision. */
export function isRefusal(error: unknown): boolean {
  if (isProviderFailure(error)) return false;
  if (error instanceof SdkHttpError) {
    const { status } = error;
    return status >= 400 && status <= 499 && status !== 401 && status !== 403 && status !== 429;
  }
  if (error instanceof ProtocolError) return true;
  if (error instanceof SdkError) return error.code === SdkErrorCode.EraNegotiationFailed;
  return error instanceof Error && /protocol version is not supported/.test(error.message);
}

/** Whether an older server may have failed at the first message of the newest revision, which it does not know. */
function isUnreadable(error: unknown): boolean {
  if (isProviderFailure(error)) return error.failure === 'protocol';
  return error instanceof SdkHttpError && (error.status === 500 || error.status === 501);
}

/** @param version `null` for the newest */
async function attempt(version: string | null, options: ConnectOptions): Promise<Client> {
  const { createTransport, isProcess, timeoutMs, signal, onToolsChanged } = options;
  const older = OLDER_VERSIONS.filter((other) => other !== version);
  const clientOptions: ClientOptions = {
    capabilities: {},
    inputRequired: { autoFulfill: false },
    listChanged: { tools: { autoRefresh: false, debounceMs: 0, onChanged: onToolsChanged } },
    ...(version === null
      ? {
          versionNegotiation: {
            mode: 'auto',
            probe: { timeoutMs: isProcess ? SILENCE_MS : timeoutMs },
          },
        }
      : { supportedProtocolVersions: [version, ...older] }),
  };
  const client = new Client(CLIENT, clientOptions);
  // Errors of the transport fail their request; the rest has no consequence.
  client.onerror = () => {};
  const exchange = new Exchange({ maxResponseBytes: HANDSHAKE_BYTES, isHandshake: true });
  // The first message of the library does not observe the signal.
  const transport = createTransport();
  const abort = () => {
    exchange.fail(createAbortFailure(signal.reason));
  };
  signal.addEventListener('abort', abort);
  exchange.signal.addEventListener('abort', () => void transport.close().catch(() => {}));
  try {
    await exchanges.run(exchange, () => client.connect(transport, { timeout: timeoutMs, signal }));
    exchange.hasEnded = true;
    return client;
  } catch (error) {
    await client.close().catch(() => {});
    throw exchange.failure ?? error;
  } finally {
    signal.removeEventListener('abort', abort);
  }
}
