import { basename } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import type { ConnectionOptions } from 'node:tls';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import {
  type CallContext,
  defineAdapter,
  type Log,
  type OpenContext,
  type Provider,
  ProviderFailure,
} from '../../core/contract/index.js';
import { createSender } from '../http/credentials.js';
import { describeCommon } from '../http/describe-config.js';
import { readAddress } from '../http/http-adapter.js';
import { Replica } from '../http/replica.js';
import { createTlsOptions } from '../http/tls-options.js';
import { Child } from '../process/child.js';
import { createEnvironment, listHostUses } from '../process/process-adapter.js';
import { OWN_ENDPOINT } from '../shared/balancing.js';
import { formatError } from '../shared/format-error.js';
import { callServer } from './call-server.js';
import { DEFAULT_START_TIMEOUT_MS, type McpConfig, mcpConfig } from './config.js';
import { type ConnectOptions, connectClient } from './connect.js';
import { createFetch } from './http-transport.js';
import { Session } from './session.js';
import { type OpenSession, type OpenSlotSession, UnusableCommand } from './session-slot.js';
import { SessionSlots } from './session-slots.js';
import { StdioPipe, StdioTransport } from './stdio-transport.js';
import { ToolWatch } from './tool-watch.js';

/** `open` waits this long for the handshake, so that a reload switches to a server that answers. */
const OPEN_TIMEOUT_MS = 3_000;

/** The time for the end of a session at the server. */
const END_TIMEOUT_MS = 1_000;

/** How long after a break an event stream is opened again. */
const RECONNECTION = {
  initialReconnectionDelay: 500,
  maxReconnectionDelay: 30_000,
  reconnectionDelayGrowFactor: 2,
  maxRetries: 3,
};

/** Kind `mcp`: a server of the Model Context Protocol, over Streamable HTTP or stdio. */
export const mcpAdapter = defineAdapter({
  kind: 'mcp',
  config: mcpConfig,
  supports: { perProcess: true },
  describeConfig: (config) => {
    const { command, cwd, auth, url } = config;
    if (command !== undefined) return { hostUses: listHostUses({ command, cwd }) };
    return { ...describeCommon({ auth }), origins: [new URL(url ?? '').origin] };
  },
  open: async (config: McpConfig, context) => {
    const { id, open } = await createOpener(config, context);
    const slots = new SessionSlots({
      isShared: config.sessions !== 'actor',
      open,
      log: context.log,
    });
    context.scope.defer(() => slots.close());
    if (slots.shared !== null) await Promise.race([slots.shared.first, pause(OPEN_TIMEOUT_MS)]);
    return createProvider(slots, id);
  },
});

function createProvider(slots: SessionSlots, id: string): Provider {
  return {
    endpoints: () => [{ id, weight: 1 }],
    // A check sends nothing: it reads whether there is a session.
    balancing: () => (slots.shared === null ? { ...OWN_ENDPOINT, health: null } : OWN_ENDPOINT),
    manifest: () =>
      Promise.reject(new ProviderFailure('refused', 'kind mcp has no manifest of its own')),
    check: async () => slots.shared?.check(),
    invoke: (invocation) => callServer(slots, invocation),
  };
}

interface Opener {
  /** Of the endpoint, without credentials. */
  readonly id: string;
  readonly open: OpenSlotSession;
}

function createOpener(config: McpConfig, context: OpenContext): Opener | Promise<Opener> {
  const { url, command } = config;
  if (url !== undefined) return createHttpOpener(new URL(url), config, context);
  return createProcessOpener({ ...config, command: command ?? [] }, context);
}

async function createHttpOpener(
  url: URL,
  { tls, auth, start_timeout_ms: timeoutMs = DEFAULT_START_TIMEOUT_MS }: McpConfig,
  context: OpenContext,
): Promise<Opener> {
  const { send } = await createSender(auth, context);
  const tlsOptions: ConnectionOptions | null =
    url.protocol === 'https:' ? createTlsOptions(tls ?? {}, context.file) : null;
  const id = url.href;
  const replica = new Replica({
    id,
    weight: 1,
    origin: url.origin,
    prefix: '',
    address: readAddress(url, () => tlsOptions ?? {}),
  });
  context.scope.defer(() => replica.close());
  const fetch = createFetch({ replica, send });
  const open: OpenSlotSession = async (signal, readContext) => {
    let transport: StreamableHTTPClientTransport | null = null;
    const createTransport = () => {
      transport = new StreamableHTTPClientTransport(url, {
        fetch,
        reconnectionOptions: RECONNECTION,
      });
      return transport;
    };
    const startsOlder = false;
    const endSession = async () => {
      const ended = transport?.terminateSession().catch(() => {});
      await Promise.race([ended, pause(END_TIMEOUT_MS, undefined, { ref: false })]);
    };
    const options = { createTransport, isProcess: false, startsOlder, timeoutMs, signal };
    return openSession(
      { ...options, readContext: auth?.exchange && readContext },
      endSession,
      context.log,
    );
  };
  return { id, open };
}

function createProcessOpener(
  config: McpConfig & { readonly command: readonly string[] },
  context: OpenContext,
): Opener {
  const { command, cwd = '.', start_timeout_ms: timeoutMs = DEFAULT_START_TIMEOUT_MS } = config;
  const childOptions = {
    command,
    cwd: context.path(cwd),
    env: createEnvironment(config, context),
    log: context.log,
    hasProtocol: true,
  };
  /** A process that exits at the first message of the newest revision gets an older one next time. */
  let startsOlder = false;
  const open: OpenSlotSession = async (signal) => {
    const child = new Child(childOptions);
    try {
      await child.spawned;
    } catch (error) {
      throw new UnusableCommand(formatError(error));
    }
    const exit = new AbortController();
    void child.exited.then((reason) => exit.abort(new Error(reason)));
    const pipe = new StdioPipe(child, context.log);
    const createTransport = () => new StdioTransport(pipe);
    try {
      const opened = await openSession(
        {
          createTransport,
          isProcess: true,
          startsOlder,
          timeoutMs,
          signal: AbortSignal.any([signal, exit.signal]),
        },
        () => child.end('session ended'),
        context.log,
      );
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
  return { id: `mcp:${basename(command[0] ?? '')}`, open };
}

async function openSession(
  options: Omit<ConnectOptions, 'onToolsChanged'> & {
    readonly readContext?: (() => CallContext | undefined) | undefined;
  },
  endSession: () => Promise<void>,
  log: Log,
): Promise<OpenSession> {
  let tools: ToolWatch | null = null;
  const client = await connectClient({ ...options, onToolsChanged: () => tools?.announce() });
  const session = new Session(client, endSession, options.readContext);
  tools = new ToolWatch(session, log);
  await tools.refresh();
  return { session, tools };
}
