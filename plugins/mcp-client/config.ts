import { enums, type Infer, object, refine, size, string } from 'superstruct';
import { described, matching, optionally, when } from '../../core/contract/index.js';
import { commandMembers, defineTransport, integerBetween } from '../shared/transport.js';

/** The time from the start of a session to the end of its handshake: `npx` may install a package first. */
export const DEFAULT_START_TIMEOUT_MS = 120_000;

/** UTF-16 units. */
export const MAX_TOOL_NAME = 1_024;

const digest = matching('sha256: and 64 hexadecimal digits', /^sha256:[0-9a-f]{64}$/);

/** That of one server, over HTTP. */
export const mcpTransport = defineTransport({ scheme: 'http', paths: true });

const { auth, tls } = mcpTransport.members;
const { command, cwd, env } = commandMembers;

const members = object({
  url: optionally(mcpTransport.url, { description: 'The server, over Streamable HTTP.' }),
  tls,
  auth,
  command: optionally(command, {
    description: 'The server as a program and its arguments, over stdio; there is no shell.',
  }),
  cwd,
  env,
  sessions: optionally(enums(['shared', 'actor']), {
    default: 'shared',
    description: 'Whether callers share a session, or each actor has its own.',
  }),
  pin: optionally(enums(['enforce', 'report']), {
    default: 'enforce',
    description: 'Whether tools that changed since they were imported are rejected, or only shown.',
  }),
  start_timeout_ms: optionally(integerBetween(100, 600_000), {
    default: DEFAULT_START_TIMEOUT_MS,
    description: 'From the start of a session to the end of its handshake. Milliseconds.',
  }),
});

const oneServer = refine(
  members,
  'a mapping with exactly one of url and command',
  (value) => (value.url === undefined) !== (value.command === undefined),
);
const ownMembers = refine(
  oneServer,
  'a mapping with tls and auth only beside url, and cwd and env only beside command',
  ({ url, ...value }) =>
    url === undefined
      ? value.tls === undefined && value.auth === undefined
      : value.cwd === undefined && value.env === undefined,
);
const httpsWithTls = refine(
  ownMembers,
  'a mapping with tls only if the url is https',
  ({ tls: given, url }) => given === undefined || url === undefined || /^https:/i.test(url),
);

const ONE_SERVER = when(
  { required: ['url'] },
  { properties: { command: false, cwd: false, env: false } },
  { required: ['command'], properties: { tls: false, auth: false } },
);

/** `provider.config` of kind `mcp`. */
export const mcpConfig = described(
  refine(
    httpsWithTls,
    'a mapping with auth.exchange only for sessions: actor',
    (value) => value.auth?.exchange === undefined || value.sessions === 'actor',
  ),
  { allOf: [ONE_SERVER] },
);

/** `operation.mcp` of a route. */
export const mcpOperation = optionally(
  object({
    tool: described(size(string(), 1, MAX_TOOL_NAME), {
      type: 'string',
      minLength: 1,
      maxLength: MAX_TOOL_NAME,
      description: 'Name of the tool at the server.',
    }),
    digest: optionally(digest, {
      description: 'The tool as it was imported: a tool that differs is rejected.',
    }),
  }),
  { description: 'The tool that the route calls. Default: the path after /tools/.' },
);

export type McpOperation = Infer<typeof mcpOperation>;
export type McpConfig = Infer<typeof mcpConfig>;
