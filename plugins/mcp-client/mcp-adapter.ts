import { setTimeout as pause } from 'node:timers/promises';
import {
  type Balancing,
  defineAdapter,
  type ModuleProblem,
  type Provider,
  ProviderFailure,
  type ProviderRoute,
} from '../../core/contract/index.js';
import {
  createUnknownEndpoint,
  findMoreThanRoutes,
  findProtocolHeaders,
  findRawMode,
  listHostUses,
} from '../shared/transport.js';
import { callServer, RESOURCES } from './call-server.js';
import {
  type McpConfig,
  type McpOperation,
  mcpConfig,
  mcpOperation,
  mcpTransport,
} from './config.js';
import { createOpener, type Opener } from './open-server.js';
import { SessionSlots } from './session-slots.js';
import { findTool, ToolPins } from './tool-pins.js';

/** `open` waits this long for the handshake, so that a reload switches to a server that answers. */
const OPEN_TIMEOUT_MS = 3_000;

/** Checks are frequent, because they send nothing. */
const BALANCING: Balancing = {
  strategy: 'round_robin',
  hashHeader: null,
  health: { intervalMs: 2_000, timeoutMs: 1_000, failures: 1, successes: 1 },
};

/** Kind `mcp`: a server of the Model Context Protocol, over Streamable HTTP or stdio. */
export const mcpAdapter = defineAdapter({
  kind: 'mcp',
  config: mcpConfig,
  operation: mcpOperation,
  supports: { perProcess: true, streams: true, toolResults: true },
  describeConfig: (config) => {
    const { command, cwd, auth } = config;
    return command === undefined
      ? mcpTransport.describe({ auth })
      : { hostUses: listHostUses({ command, cwd }) };
  },
  checkDescriptor: (descriptor) => [
    ...findRawMode(descriptor, 'mcp'),
    ...findProtocolHeaders(descriptor, 'mcp', /^(?:mcp-.*|last-event-id)$/i),
  ],
  checkManifest: (manifest, routes) => [
    ...findMoreThanRoutes(manifest, 'mcp'),
    ...routes.flatMap(findRouteProblems),
  ],
  tryCredentials: (config, context) => mcpTransport.tryCredentials(config, context),
  open: async (config: McpConfig, context) => {
    const pins = new ToolPins({
      isEnforced: config.pin !== 'report',
      log: context.log,
      calls: context.counter('changed_tool_calls_total', 'Calls of tools that have changed.'),
    });
    const opener = await createOpener(config, context, pins);
    const { open } = opener;
    const slots = new SessionSlots({
      isShared: config.sessions !== 'actor',
      open,
      log: context.log,
    });
    context.scope.defer(() => slots.close());
    if (slots.shared !== null) await Promise.race([slots.shared.first, pause(OPEN_TIMEOUT_MS)]);
    return createProvider(slots, pins, opener);
  },
});

function createProvider(
  slots: SessionSlots,
  pins: ToolPins,
  { id, credentialProblem }: Opener,
): Provider {
  return {
    endpoints: () => [{ id, weight: 1 }],
    // A check sends nothing: it reads whether there is a session.
    balancing: () => ({ ...BALANCING, health: slots.shared === null ? null : BALANCING.health }),
    manifest: () =>
      Promise.reject(new ProviderFailure('refused', 'kind mcp has no manifest of its own')),
    check: async () => slots.shared?.check(),
    credentialProblem,
    facts: () => pins.facts(),
    useRoutes: (routes) => pins.replace(routes),
    invoke: async (invocation) => {
      const { endpoint } = invocation;
      if (endpoint !== undefined && endpoint !== id) throw createUnknownEndpoint();
      return callServer(slots, pins, invocation);
    },
  };
}

/** The members of operations for other bodies than the JSON of a tool. */
const NOT_OF_TOOLS = ['stream', 'body_types', 'response_types'] as const;

function findRouteProblems({ declared, options }: ProviderRoute, index: number): ModuleProblem[] {
  const { method, path, operation = {} } = declared;
  const violate = (member: readonly string[], message: string): ModuleProblem[] => {
    return [{ path: ['http_routes', index, ...member], message }];
  };
  if (method === 'GET' && path === RESOURCES) {
    if (operation.response === 'bytes') return [];
    return violate([], 'needs operation.response: bytes, since resources are bytes');
  }
  if (method !== 'POST') {
    return violate(['method'], `must be POST for a tool, or GET for ${RESOURCES}`);
  }
  if (findTool(path, options as McpOperation) === null) {
    return violate(['path'], 'must begin with /tools/, unless operation.mcp names the tool');
  }
  const others = NOT_OF_TOOLS.filter((member) => operation[member] !== undefined);
  const bytes = (['body', 'response'] as const).filter((member) => operation[member] === 'bytes');
  return [...others, ...bytes].flatMap((member) =>
    violate(['operation', member], 'is not for tools, whose arguments and results are JSON'),
  );
}
