import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import type { Log, OpenContext } from '../../core/contract/index.js';
import { type CommandConfig, connectHttp, prepareCommand } from '../shared/transport.js';
import { DEFAULT_START_TIMEOUT_MS, type McpConfig, mcpTransport } from './config.js';
import { type ConnectOptions, connectClient, isRefusal } from './connect.js';
import { McpProblem } from './describe-problem.js';
import { createFetch, createReconnection, speaksOlderTransport } from './http-transport.js';
import { MAX_RETRY_MS } from './read-response.js';
import { Resources } from './resources.js';
import { Session } from './session.js';
import { type OpenSession, type OpenSlotSession, UnusableCommand } from './session-slot.js';
import { StdioPipe, StdioTransport } from './stdio-transport.js';
import type { ToolPins } from './tool-pins.js';
import { ToolWatch } from './tool-watch.js';

/** The time for the end of a session at the server. */
const END_TIMEOUT_MS = 1_000;

/** How long after a break an event stream is opened again. */
const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: MAX_RETRY_MS,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};

/** What opening a server needs; an import has less than a host. */
export type ServerContext = Pick<
  OpenContext,
  'module' | 'scope' | 'log' | 'secret' | 'file' | 'path'
> &
  Partial<Pick<OpenContext, 'openSigner' | 'callerTokens'>>;

export interface Opener {
  /** Of the endpoint, without credentials. */
  readonly id: string;
  readonly open: OpenSlotSession;
  /** The error of the last request for credentials; `null` after a success. */
  readonly credentialProblem: () => string | null;
}

/** Prepares the sessions with a server, without opening one. */
export function createOpener(
  config: McpConfig,
  context: ServerContext,
  pins: ToolPins,
): Opener | Promise<Opener> {
  const { url, command } = config;
  if (url !== undefined) return createHttpOpener(new URL(url), config, context, pins);
  return createProcessOpener({ ...config, command: command ?? [] }, context, pins);
}

async function createHttpOpener(
  url: URL,
  { tls, auth, start_timeout_ms: timeoutMs = DEFAULT_START_TIMEOUT_MS }: McpConfig,
  context: ServerContext,
  pins: ToolPins,
): Promise<Opener> {
  const { find, send, provider } = await mcpTransport.open(
    { endpoints: [url.href], tls, auth },
    context,
    // Targets of the client library have the whole path.
    (place) => connectHttp({ ...place, prefix: '' }),
  );
  const target = find();
  const open: OpenSlotSession = async (signal, readContext) => {
    // Otherwise the host has the same credentials for everybody.
    const hasOwn = auth?.exchange !== undefined;
    const access = { target, send, readContext: hasOwn ? readContext : () => undefined };
    const fetch = createFetch(access);
    let transport: StreamableHTTPClientTransport | null = null;
    const createTransport = () => {
      transport = new StreamableHTTPClientTransport(url, {
        fetch,
        reconnectionOptions: RECONNECTION,
        reconnectionScheduler: createReconnection(),
      });
      return transport;
    };
    const endSession = async () => {
      const ended = transport?.terminateSession().catch(() => {});
      await Promise.race([ended, pause(END_TIMEOUT_MS, undefined, { ref: false })]);
    };
    try {
      return await openSession({
        ...{ createTransport, isProcess: false, startsOlder: false, timeoutMs, signal },
        ...{ endSession, pins, log: context.log },
      });
    } catch (error) {
      if (!isRefusal(error) || !(await speaksOlderTransport(url, access))) throw error;
      throw new McpProblem('the server speaks HTTP+SSE, which is not supported', { cause: error });
    }
  };
  return { id: url.href, open, credentialProblem: provider.credentialProblem };
}

function createProcessOpener(
  config: McpConfig & CommandConfig,
  context: ServerContext,
  pins: ToolPins,
): Opener {
  const { command, start_timeout_ms: timeoutMs = DEFAULT_START_TIMEOUT_MS } = config;
  const start = prepareCommand(config, context);
  /** A process that exits at the first message of the newest revision gets an older one next time. */
  let startsOlder = false;
  const open: OpenSlotSession = async (signal) => {
    const child = start();
    try {
      await child.spawned;
    } catch (error) {
      throw new UnusableCommand(error instanceof Error ? error.message : 'cannot be started');
    }
    const exit = new AbortController();
    void child.exited.then((reason) => exit.abort(new McpProblem(reason)));
    const pipe = new StdioPipe(child);
    const createTransport = () => new StdioTransport(pipe);
    try {
      const opened = await openSession({
        createTransport,
        isProcess: true,
        startsOlder,
        timeoutMs,
        signal: AbortSignal.any([signal, exit.signal]),
        endSession: () => child.end('session ended'),
        pins,
        log: context.log,
      });
      pipe.isReady = true;
      void child.exited.then((reason) => opened.session.end(reason));
      return opened;
    } catch (error) {
      startsOlder ||= exit.signal.aborted;
      const reason = exit.signal.aborted ? exit.signal.reason : error;
      await child.end('no handshake');
      throw reason;
    }
  };
  const id = `mcp:${basename(command[0] ?? '')}`;
  return { id, open, credentialProblem: () => null };
}

interface OpenOptions extends Omit<ConnectOptions, 'onToolsChanged'> {
  readonly endSession: () => Promise<void>;
  readonly pins: ToolPins;
  readonly log: Log;
}

async function openSession(options: OpenOptions): Promise<OpenSession> {
  const { endSession, pins, log, signal } = options;
  let tools: ToolWatch | null = null;
  const client = await connectClient({ ...options, onToolsChanged: () => tools?.announce() });
  const session = new Session(client, endSession);
  const watch = new ToolWatch(session, log, (listed) => pins.compare(listed));
  tools = watch;
  await session.endOnAbort(signal, 'aborted', () => watch.refresh());
  return { session, tools: watch, resources: new Resources(session) };
}
