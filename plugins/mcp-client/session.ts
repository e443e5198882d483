import { type Client, ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client';
import { isProviderFailure, ProviderFailure } from '../../core/contract/index.js';
import { Exchange, exchanges, OWN_RESPONSE_BYTES, sliceResult } from './exchange.js';
import { repeatsArguments } from './header-parameters.js';

/** The library has its own timeout; the host ends each call. */
const NO_TIMEOUT_MS = 2 ** 31 - 1;

const PING_TIMEOUT_MS = 5_000;

/** One tool that the library rejects must not hide the others. */
const ANY_RESULT = {
  '~standard': { version: 1, vendor: 'modgate', validate: (value: unknown) => ({ value }) },
} as const;

/** An error of JSON-RPC, with which a server answered a request. */
export class ServerError extends Error {
  override readonly name = 'ServerError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

/** A session with a server, whose handshake has ended. */
export class Session {
  /** Resolves with the reason when it ends. Never rejects. */
  readonly ended: Promise<string>;
  readonly #client: Client;
  readonly #endAtServer: () => Promise<void>;
  #end: (reason: string) => void = () => {};
  #isEnded = false;
  /** Whether the server has forgotten it, while it is asked with a method. */
  readonly #asking = new Map<string, Promise<boolean>>();

  constructor(client: Client, endAtServer: () => Promise<void>) {
    this.#client = client;
    this.#endAtServer = endAtServer;
    this.ended = new Promise((resolve) => {
      this.#end = resolve;
    });
    client.onclose = () => this.#end('connection closed');
  }

  get version(): string {
    return this.#client.getNegotiatedProtocolVersion() ?? '';
  }

  /** What the server says of itself; `undefined` if it says nothing. */
  get serverInfo(): unknown {
    return this.#client.getServerVersion();
  }

  /** Whether the server has a feature of the protocol. */
  offers(feature: 'tools' | 'resources' | 'prompts'): boolean {
    return this.#client.getServerCapabilities()?.[feature] !== undefined;
  }

  /** An exchange for a request of the host itself. */
  createExchange(): Exchange {
    return new Exchange({ maxResponseBytes: OWN_RESPONSE_BYTES });
  }

  /** Ends it; resolves when the server has been told, or does not answer. */
  async end(reason: string): Promise<void> {
    if (this.#isEnded) return;
    this.#isEnded = true;
    this.#end(reason);
    await this.#endAtServer();
    // An error means that the connection is closed already.
    await this.#client.close().catch(() => {});
  }

  /** Does work, and ends the session when the signal is aborted meanwhile. */
  async endOnAbort<T>(signal: AbortSignal, reason: string, work: () => Promise<T>): Promise<T> {
    const abort = () => void this.end(reason);
    signal.addEventListener('abort', abort);
    try {
      return await work();
    } finally {
      signal.removeEventListener('abort', abort);
    }
  }

  /**
   * Calls a tool.
   * @param input the JSON of the arguments
   * @param inputSchema says which arguments newer revisions repeat in headers
   * @returns the text of the result
   * @throws ServerError, ProviderFailure
   */
  callTool(name: string, input: string, inputSchema: unknown, exchange: Exchange): Promise<string> {
    const repeats = repeatsArguments(inputSchema);
    // The text is sent; the library needs values for headers alone.
    const values = repeats ? (JSON.parse(input) as Record<string, unknown>) : {};
    const schema = repeats ? inputSchema : { type: 'object' };
    return this.#exchange(exchange, () =>
      this.#client.callTool(
        { name, arguments: values },
        {
          ...createOptions(exchange),
          onprogress: ({ progress, total, message }) =>
            exchange.options.onProgress?.({
              progress,
              ...(total !== undefined && { total }),
              ...(message !== undefined && { message }),
            }),
          toolDefinition: { name, inputSchema: schema } as never,
        },
      ),
    );
  }

  /** Sends any other request, like `callTool`. */
  request(
    request: { readonly method: string; readonly params: Record<string, unknown> },
    exchange: Exchange,
  ): Promise<string> {
    return this.#exchange(exchange, () =>
      this.#client.request(request, ANY_RESULT, createOptions(exchange)),
    );
  }

  /**
   * Asks once for all calls that fail meanwhile. With a ping: the server checks the session before
   * anything else. A call may be denied for its caller, and every ping rejected by the server or a
   * gateway. What the session was allowed at its start, the list of tools, is then rejected only
   * without the session, or with credentials that have become invalid.
   */
  #ask(doubt: Doubt): Promise<boolean> {
    return this.#askWith(doubt === 'denied' && this.offers('tools') ? 'tools/list' : 'ping');
  }

  #askWith(method: 'ping' | 'tools/list'): Promise<boolean> {
    const known = this.#asking.get(method);
    const asking = known ?? this.#isForgotten(method).finally(() => this.#asking.delete(method));
    this.#asking.set(method, asking);
    return asking;
  }

  async #isForgotten(method: 'ping' | 'tools/list'): Promise<boolean> {
    const exchange = this.createExchange();
    const send = () => this.#client.request({ method }, ANY_RESULT, createOptions(exchange));
    try {
      await withinTime(exchange, PING_TIMEOUT_MS, () => exchanges.run(exchange, send));
      return false;
    } catch (error) {
      const doubt = findDoubt(translateError(error, exchange), exchange);
      const isRejected = exchange.isSessionLost || doubt !== null;
      if (!isRejected || method === 'tools/list' || !this.offers('tools')) return isRejected;
      return this.#askWith('tools/list');
    }
  }

  async #exchange(exchange: Exchange, send: () => Promise<unknown>): Promise<string> {
    try {
      await exchanges.run(exchange, send);
    } catch (error) {
      const translated = translateError(error, exchange);
      const doubt = findDoubt(translated, exchange);
      const isLost = exchange.isSessionLost || (doubt !== null && (await this.#ask(doubt)));
      // With a status of 200, or of 500 and more, the server may have made the call.
      const mayBeMade = doubt === 'answered' || (exchange.failure?.status ?? 0) >= 500;
      exchange.isSessionLost = isLost && !mayBeMade;
      if (isLost) void this.end('the server lost the session');
      throw translated;
    }
    const result = exchange.answer === null ? null : sliceResult(exchange.answer);
    if (result !== null) return result;
    throw new ProviderFailure('protocol', 'the server sent no result', { phase: 'answered' });
  }
}

type Doubt = Exchange['sessionDoubt'] | 'answered';

/** Codes of servers that answer an unknown session with a status of 200. */
const UNKNOWN_SESSION: ReadonlySet<number> = new Set([-32_600, -32_000, -32_001]);

/** How an error may mean that the server no longer knows the session; `null` if it does not. */
function findDoubt(error: Error, { sessionDoubt, hasSession }: Exchange): Doubt {
  if (sessionDoubt !== null || !hasSession) return sessionDoubt;
  const isUnknown =
    error instanceof ServerError
      ? UNKNOWN_SESSION.has(error.code)
      : isProviderFailure(error) && error.failure === 'protocol';
  return isUnknown ? 'answered' : null;
}

function createOptions({ signal }: Exchange) {
  return { signal, timeout: NO_TIMEOUT_MS };
}

function translateError(error: unknown, exchange: Exchange): Error {
  if (exchange.failure !== null) return exchange.failure;
  if (isProviderFailure(error)) return error;
  if (error instanceof ProtocolError) return new ServerError(error.code, error.message);
  if (error instanceof SdkError && error.code === SdkErrorCode.ConnectionClosed) {
    const phase = exchange.isSent ? 'responding' : 'connecting';
    return new ProviderFailure('unavailable', 'the connection was closed', { phase });
  }
  const message = 'the server sent a result that the protocol does not have';
  return new ProviderFailure('protocol', message, { phase: 'answered', cause: error });
}

/** Runs a request of the host itself within a time. */
export async function withinTime<T>(
  exchange: Exchange,
  timeoutMs: number,
  run: () => Promise<T>,
): Promise<T> {
  const failure = new ProviderFailure('timeout', `no response within ${timeoutMs} ms`);
  const timer = setTimeout(() => exchange.fail(failure), timeoutMs);
  try {
    return await run();
  } finally {
    clearTimeout(timer);
  }
}
