import { createHash } from 'node:crypto';
import { SdkHttpError } from '@modelcontextprotocol/client';
import { array, enums, object, optional, string } from 'superstruct';
import {
  defineImporter,
  type ImportContext,
  type ImportedModule,
  type JsonSchema,
  type LeftOut,
  type Log,
  type LogWrite,
  type ManifestRoute,
  type RouteOperation,
} from '../../core/contract/index.js';
import type { McpConfig } from './config.js';
import { describeProblem, McpProblem } from './describe-problem.js';
import { readMember } from './exchange.js';
import { findToolProblem } from './header-parameters.js';
import { readVariables } from './import-variables.js';
import { type ListMethod, listPages } from './list-pages.js';
import { createOpener } from './open-server.js';
import type { OpenSession } from './session-slot.js';
import { ToolPins } from './tool-pins.js';
import { digestTool, type ListedTool, listTools } from './tool-watch.js';

const BEARER = 'bearer=';

/** What a path segment holds without an escape. */
const PLAIN_NAME = /^(?!\.{1,2}$)[A-Za-z0-9._~-]{1,128}$/;
const SUFFIX_LENGTH = 8;
const MAX_SHOWN_NAME = 128;

const importOptions = object({
  auth: optional(string()),
  ca: optional(string()),
  capabilities: optional(enums(['each', 'readwrite'])),
  cwd: optional(string()),
  env: optional(array(string())),
});

type ImportOptions = typeof importOptions.TYPE;

/** `modgate import mcp`: a manifest with a route for each tool. */
export const mcpImporter = defineImporter({
  name: 'mcp',
  options: importOptions,
  read: async (source, options: ImportOptions, context) => {
    const config = createConfig(source, options, context);
    const open = await openServer(config, context);
    const { session } = open;
    try {
      const module = await session.endOnAbort(context.signal, 'the import was aborted', () =>
        readServer(open, config, options, context),
      );
      // A session that has ended offers nothing, and is no error.
      context.signal.throwIfAborted();
      return module;
    } finally {
      await session.end('imported');
    }
  },
});

/** A URL, or the words of a command. */
function createConfig(
  source: readonly string[],
  { auth, ca, cwd, env }: ImportOptions,
  context: ImportContext,
): McpConfig {
  const [first = ''] = source;
  if (!/^https?:\/\//i.test(first)) {
    if (auth !== undefined || ca !== undefined) {
      context.reject('--auth and --ca belong to a URL, not to a command');
    }
    return {
      command: [...source],
      cwd: context.pathInDescriptor(cwd ?? '.'),
      ...(env !== undefined && { env: readVariables(env, context) }),
    };
  }
  if (cwd !== undefined || env !== undefined) {
    context.reject('--cwd and --env belong to a command, not to a URL');
  }
  if (source.length > 1) context.reject('a URL must be the only word of the source');
  if (auth !== undefined && !auth.startsWith(BEARER)) {
    context.reject('--auth must be bearer=env:NAME or bearer=file:PATH');
  }
  return {
    url: first,
    ...(ca !== undefined && { tls: { ca: context.pathInDescriptor(ca) } }),
    ...(auth !== undefined && {
      auth: { bearer: context.referenceInDescriptor(auth.slice(BEARER.length)) },
    }),
  };
}

async function openServer(written: McpConfig, context: ImportContext): Promise<OpenSession> {
  const { config, secret, file, path } = await context.resolve<McpConfig>('mcp', written);
  const { module, scope, signal } = context;
  const log = showLines(context.log);
  const calls = { add() {} };
  const pins = new ToolPins({ isEnforced: false, log, calls });
  const opener = await createOpener(config, { module, scope, log, secret, file, path }, pins);
  return opener.open(signal, () => undefined).catch((error) => Promise.reject(explain(error)));
}

/** The message of the library has the body of the response instead of its status. */
function explain(error: unknown): unknown {
  if (!(error instanceof SdkHttpError)) return error;
  return new McpProblem(`the server answered with ${describeProblem(error)}`, { cause: error });
}

/** What a process prints, for the terminal. */
function showLines(log: Log): Log {
  const show =
    (write: LogWrite): LogWrite =>
    (fields, message) =>
      write(fields, typeof fields['line'] === 'string' ? fields['line'] : message);
  const { debug, info, warn, error } = log;
  return { debug: show(debug), info: show(info), warn: show(warn), error: show(error) };
}

async function readServer(
  { session }: OpenSession,
  config: McpConfig,
  { capabilities = 'readwrite' }: ImportOptions,
  { module }: ImportContext,
): Promise<ImportedModule> {
  const list = async (method: ListMethod, feature: 'resources' | 'prompts') =>
    session.offers(feature) ? [...(await listPages(session, method)).keys()] : [];
  const tools = await listTools(session);
  const resources = await list('resources/list', 'resources');
  const templates = await list('resources/templates/list', 'resources').catch(() => []);
  const prompts = await list('prompts/list', 'prompts').catch(() => []);
  const converter = new ToolConverter(module, capabilities);
  const problems = new Map(tools.map((tool) => [tool, findToolProblem(tool)]));
  const good = tools.filter((tool) => problems.get(tool) === null);
  const routes = good.map((tool) => converter.convert(tool));
  if (resources.length > 0) routes.push(createResourceRoute(converter.readCapability));
  return {
    ...describeServer(session.serverInfo),
    routes,
    schemas: converter.schemas,
    provider: { kind: 'mcp', config },
    replaces: listReplaced(config),
    leftOut: [
      ...[...problems].flatMap(([{ name }, reason]) =>
        reason === null ? [] : [{ place: name.slice(0, MAX_SHOWN_NAME), reason }],
      ),
      ...templates.map((place) => leaveOut(place, 'resource template')),
      ...prompts.map((place) => leaveOut(place, 'prompt')),
    ],
    notes: [
      'callers share a session: what one leaves at the server, others can see (sessions: actor)',
    ],
  };
}

/** Variables that operators have added stay, unless an import names its own. */
function listReplaced({ url, env }: McpConfig): readonly string[] {
  if (url !== undefined) return ['url'];
  return ['command', 'cwd', ...(env === undefined ? [] : ['env'])];
}

function leaveOut(place: string, part: string): LeftOut {
  return { place, part, reason: 'is not carried' };
}

function describeServer(info: unknown): Pick<ImportedModule, 'version' | 'summary'> {
  const version = readMember(info, 'version');
  const summary = readText(info, 'title') ?? readText(info, 'name');
  return {
    ...(typeof version === 'string' && version !== '' && { version }),
    ...(summary !== undefined && { summary: toLine(summary) }),
  };
}

function createResourceRoute(capability: string): ManifestRoute {
  return {
    method: 'GET',
    path: '/resources/{uri}',
    capability,
    summary: 'Read a resource that the server lists',
    operation: { operation_id: 'read_resource', encoded: ['uri'], response: 'bytes' },
  };
}

/** Makes routes of the tools of one server. */
class ToolConverter {
  /** The schemas of results: references in them start at their own root. */
  readonly schemas: Record<string, JsonSchema> = {};
  readonly #module: string;
  readonly #capabilities: 'each' | 'readwrite';
  readonly #paths = new Set<string>();

  constructor(module: string, capabilities: 'each' | 'readwrite') {
    this.#module = module;
    this.#capabilities = capabilities;
  }

  get readCapability(): string {
    return `${this.#module}.read`;
  }

  convert(tool: ListedTool): ManifestRoute {
    const { name, annotations, inputSchema } = tool;
    const segment = this.#choosePath(name);
    const isRead = readMember(annotations, 'readOnlyHint') === true;
    const title = readText(tool, 'title') ?? readText(annotations, 'title');
    const description = readText(tool, 'description');
    const rights = isRead ? 'read' : 'write';
    const right = this.#capabilities === 'each' ? segment : rights;
    return {
      method: 'POST',
      path: `/tools/${segment}`,
      capability: `${this.#module}.${right}`,
      ...(title !== undefined && { summary: toLine(title) }),
      ...(description !== undefined && { description }),
      operation: {
        operation_id: name,
        ...convertHints(annotations),
        ...(!requiresArguments(inputSchema) && { body: 'optional' }),
        ...(isSchema(inputSchema) && { input_schema: inputSchema }),
        ...this.#convertOutput(segment, tool.outputSchema),
        mcp: { tool: name, digest: digestTool(tool) },
      } as RouteOperation,
    };
  }

  /** A name that no path can hold gets another one. */
  #choosePath(name: string): string {
    const suffix = createHash('sha256').update(name).digest('hex').slice(0, SUFFIX_LENGTH);
    const plain = name.replaceAll(/[^A-Za-z0-9_-]+/g, '_').slice(0, 100);
    const path = PLAIN_NAME.test(name) && !this.#paths.has(name) ? name : `${plain}-${suffix}`;
    this.#paths.add(path);
    return path;
  }

  /** A result has its structure beside its content. */
  #convertOutput(segment: string, schema: unknown): Pick<RouteOperation, 'output_schema'> {
    if (!isSchema(schema)) return {};
    const name = `${segment}.structure`;
    this.schemas[name] = schema;
    return {
      output_schema: {
        type: 'object',
        properties: {
          content: { type: 'array', items: { type: 'object' } },
          structuredContent: { $ref: `manifest:schemas/${name}` },
          isError: { type: 'boolean' },
        },
        required: ['content'],
      },
    };
  }
}

/** A tool without hints writes, may destroy, and must not be repeated. */
function convertHints(annotations: unknown): RouteOperation {
  if (readMember(annotations, 'readOnlyHint') === true) {
    return { idempotency: 'idempotent', danger_level: 'low', reads: true };
  }
  return {
    ...(readMember(annotations, 'idempotentHint') === true && { idempotency: 'idempotent' }),
    danger_level: readMember(annotations, 'destructiveHint') === false ? 'medium' : 'high',
  };
}

function requiresArguments(schema: unknown): boolean {
  const required = readMember(schema, 'required');
  return Array.isArray(required) && required.length > 0;
}

function isSchema(value: unknown): value is JsonSchema & object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function readText(value: unknown, name: string): string | undefined {
  const text = readMember(value, name);
  return typeof text === 'string' && text.trim() !== '' ? text : undefined;
}

/** Summaries are one line. */
function toLine(text: string): string {
  return text.replaceAll(/\s+/g, ' ').trim();
}
