import {
  array,
  boolean,
  define,
  enums,
  type Infer,
  literal,
  object,
  refine,
  unknown,
} from 'superstruct';
import { converted, described, filledIn, optionally, withDefault } from '../contract/described.js';
import { ACTOR_KINDS, type ActorKind } from '../contract/index.js';
import { matching, nonEmptyText, shortText, wholeNumber } from '../document/structs.js';
import { parseRange, RANGE_EXPECTED } from '../lib/address-list.js';
import { HEADER_NAME } from '../lib/header-names.js';
import { isTrustworthyOrigin } from '../lib/web-origin.js';
import { candidate } from './candidate-struct.js';
import { DEFAULT_EXPOSED, MODULE_REDIRECTS, RESPONSE_MODES } from './expose-headers.js';
import { BUILTIN_UI, capability, DIGEST, digest, moduleName } from './identifiers.js';
import { manifestSource } from './manifest-source.js';
import { mountList } from './mounts.js';
import { amount, bytes, count, milliseconds, seconds, section } from './struct-members.js';

const TEN_MINUTES_MS = 600_000;
const ONE_HOUR_MS = 3_600_000;
const ONE_DAY_SECONDS = 86_400;
const ONE_DAY_MS = 86_400_000;
const ONE_WEEK_MS = 7 * ONE_DAY_MS;
const ONE_GIBIBYTE = 1_073_741_824;
const ONE_TEBIBYTE = 1_099_511_627_776;
/** More calls per second than one process can handle. */
const ONE_MILLION = 1_000_000;
/** More sockets than one process can open. */
const MANY = 100_000;

/** Also applies to unknown modules, so that a caller does not learn which modules exist. */
export const DEFAULT_CALLERS: ActorKind[] = ['service', 'system'];

const callers = described(
  refine(
    array(enums(ACTOR_KINDS)),
    'a list of distinct kinds of actors, at least one',
    (kinds) => kinds.length > 0 && new Set(kinds).size === kinds.length,
  ),
  { minItems: 1, uniqueItems: true },
);

const headerNames = array(
  converted(matching('the name of a header', HEADER_NAME), (name) => name.toLowerCase()),
);

const ownerText = shortText(200);

const owner = section('owner', 'Who answers for the module.', {
  name: optionally(ownerText, { description: 'A person or a team.' }),
  contact: optionally(ownerText, {
    description: 'How to reach them; shown as a link if it is https: or mailto:.',
  }),
  docs: optionally(ownerText, {
    description: 'Where the module is described; shown as a link if it is https: or mailto:.',
  }),
});

const MAX_RANGES = 1000;

/** A rule rejects a range with bits after its prefix; its hint contains the corrected range. */
const addressRange = described(
  define<string>(RANGE_EXPECTED, (value) => {
    const range = typeof value === 'string' ? parseRange(value) : null;
    return range !== null && !('reason' in range && range.meant === null);
  }),
  { type: 'string' },
);

const allow = section('allow', 'Who may call the module. Without it, clients of every address.', {
  addresses: described(
    refine(
      array(addressRange),
      `a list of 1 to ${MAX_RANGES} addresses and ranges`,
      ({ length }) => length > 0 && length <= MAX_RANGES,
    ),
    {
      minItems: 1,
      maxItems: MAX_RANGES,
      description: 'Addresses and ranges such as 10.0.0.0/8; any other client is 403.',
    },
  ),
});

const byteLimits = section('bytes', 'Bounds for bodies of bytes, which a manifest can lower.', {
  request: bytes(ONE_GIBIBYTE, [1, ONE_TEBIBYTE], 'Longest body of bytes of a request.'),
  response: bytes(ONE_GIBIBYTE, [1, ONE_TEBIBYTE], 'Longest body of bytes of a response.'),
});

const streamLimits = section('stream', 'Bounds for streams of events, and for WebSockets.', {
  head_ms: optionally(wholeNumber(1, ONE_HOUR_MS), {
    description:
      'Wait for the head of the response: some providers send it with their first event. Default: timeout_ms. Milliseconds.',
  }),
  idle_ms: milliseconds(
    60_000,
    [1, ONE_DAY_MS],
    'Longest silence of the provider; of a WebSocket: of both ends.',
  ),
  max_ms: milliseconds(3_600_000, [1, ONE_WEEK_MS], 'How long a stream may be open.'),
  per_actor: count(10, [1, MANY], 'Open streams of each actor; more is 429.'),
  total: count(1024, [1, MANY], 'Open streams of the module; more is 502.'),
  event_bytes: optionally(wholeNumber(1, ONE_GIBIBYTE), {
    description:
      'Longest event, or line of JSON; of a WebSocket: longest frame. Default: 262144; 16777216 for frames, which are not held. Bytes.',
  }),
  heartbeat_ms: milliseconds(
    15_000,
    [1, ONE_HOUR_MS],
    'Silence after which the client gets a comment, or an empty line.',
  ),
});

const limits = section('limits', 'Bounds for the calls of this module.', {
  timeout_ms: milliseconds(5000, [1, TEN_MINUTES_MS], 'Time for a whole call, retries included.'),
  request_bytes: bytes(1_048_576, [1, ONE_GIBIBYTE], 'Longest body of a request.'),
  response_bytes: bytes(
    4_194_304,
    [1, ONE_GIBIBYTE],
    'Longest body of a response of the provider.',
  ),
  hold_bytes: optionally(wholeNumber(1, ONE_GIBIBYTE), {
    description:
      'A longer response is streamed while it is checked. Default: response_bytes, or 262144 where that is above 4194304. Bytes.',
  }),
  hold_request_bytes: optionally(wholeNumber(1, ONE_GIBIBYTE), {
    description:
      'A longer body of a request is streamed to the provider while it is checked. Default: request_bytes. Bytes.',
  }),
  concurrency: count(256, [1, MANY], 'Calls at the same time.'),
  queue: count(32, [0, MANY], 'Calls that may wait until another one ends.'),
  queue_ms: milliseconds(250, [0, TEN_MINUTES_MS], 'How long a call may wait in the queue.'),
  bytes: filledIn(byteLimits),
  stream: filledIn(streamLimits),
  body_idle_ms: milliseconds(
    30_000,
    [1, TEN_MINUTES_MS],
    'Longest pause of a body that is streamed, of the provider and of the client.',
  ),
  body_min_bytes_s: count(
    1024,
    [0, ONE_GIBIBYTE],
    'How much of a body that is streamed has to pass in a second, on average over body_idle_ms; 0 is no limit. Bytes.',
  ),
});

const rate = section('rate', 'How often the module may be called; more is 429.', {
  per_second: amount(
    0,
    [0, ONE_MILLION],
    'Calls per second by all actors together; 0 is no limit.',
  ),
  burst: count(0, [0, ONE_MILLION], 'Calls at once; 0 is as many as per second.'),
  actor_per_second: amount(0, [0, ONE_MILLION], 'Calls per second by each actor; 0 is no limit.'),
  actor_burst: count(0, [0, ONE_MILLION], 'Calls of an actor at once; 0 is as many as per second.'),
  client_per_second: amount(
    0,
    [0, ONE_MILLION],
    'Calls per second from each address, with or without credentials; 0 is no limit.',
  ),
  client_burst: count(
    0,
    [0, ONE_MILLION],
    'Calls of an address at once; 0 is as many as per second.',
  ),
  shared: withDefault(boolean(), false, {
    description: 'Whether the limits hold over all hosts, which count in Redis (--redis).',
  }),
  on_loss: withDefault(enums(['share', 'open', 'closed']), 'share', {
    description:
      'While Redis does not answer: share gives each process its last known share of the limit, open does not limit, closed answers 503.',
  }),
  headers: withDefault(boolean(), false, {
    description: 'Whether every answer says what is left, in ratelimit and ratelimit-policy.',
  }),
});

const retry = section('retry', 'Retries of calls that never reached the provider.', {
  attempts: count(2, [0, 10], 'Retries at most, in addition to the first attempt.'),
  budget: amount(0.2, [0, 1], 'What each call adds to the bucket from which a retry takes 1.'),
});

const breaker = section('breaker', 'The circuit breakers of each endpoint and of its routes.', {
  failures: count(5, [1, 1000], 'Failures within the window that open a circuit breaker.'),
  ratio: amount(0.5, [0, 1], 'Share of the calls within the window that must have failed, 0 to 1.'),
  window_ms: milliseconds(10_000, [1, ONE_HOUR_MS], 'Length of the window.'),
  open_ms: milliseconds(10_000, [1, ONE_HOUR_MS], 'How long it stays open at first.'),
  max_open_ms: milliseconds(60_000, [1, ONE_HOUR_MS], 'How long it stays open at most.'),
});

const records = section('records', 'What the records of calls hold.', {
  // A record holds the start of a body for debugging, not a complete copy.
  capture_bytes: bytes(0, [0, 65_536], 'How much of each body the records of calls keep.'),
});

const probation = section(
  'probation',
  'Rolls back a new version if too many of its first calls end in 502. Without it, no version is rolled back.',
  {
    seconds: seconds(30, [1, ONE_DAY_SECONDS], 'How long a new version is observed.'),
    max_error_rate: amount(
      0.05,
      [0, 1],
      'Share of 502 responses above which it is rolled back, 0 to 1.',
    ),
    min_calls: count(10, [1, MANY], 'Calls before the share is considered.'),
  },
);

const trustworthyOrigin = described(
  define<string>(
    'an https origin, or an http origin on loopback, without a path',
    (value) => typeof value === 'string' && isTrustworthyOrigin(value),
  ),
  { type: 'string' },
);

const redirectTarget = described(
  define<string>(
    `'${MODULE_REDIRECTS}', or an https origin without a path`,
    (value) =>
      value === MODULE_REDIRECTS || (typeof value === 'string' && isTrustworthyOrigin(value)),
  ),
  { type: 'string' },
);

const responses = section('responses', 'What callers get of a response of the provider.', {
  mode: withDefault(enums(RESPONSE_MODES), 'envelope', {
    description:
      "What callers get: envelope is 200 with the provider's JSON in data; raw is the provider's status and JSON.",
  }),
  expose_headers: optionally(headerNames, {
    description: `Response headers of the provider that callers get. Default: none in the envelope; in raw mode ${DEFAULT_EXPOSED.raw.join(', ')}.`,
  }),
  origins: withDefault(array(trustworthyOrigin), [], {
    description:
      'Other origins of the same provider: references to them are rewritten like those to an endpoint.',
  }),
  redirects: withDefault(array(redirectTarget), [], {
    description:
      "In raw mode, redirects that callers get: 'module' for those below an endpoint, or exact origins. The host follows none.",
  }),
});

const schemaMode = enums(['enforce', 'report', 'off']);

const schemas = section(
  'schemas',
  'Whether the schemas of the manifest are checked. enforce rejects, report counts, off ignores.',
  {
    input: withDefault(schemaMode, 'enforce', {
      description: 'What happens to a request that violates the schemas of its route.',
    }),
    output: withDefault(schemaMode, 'off', {
      description: 'What happens to a response that violates the schema of its route.',
    }),
  },
);

const uiArtifact = matching(
  `a digest: sha256: and 64 lower-case hex digits, or ${BUILTIN_UI}`,
  new RegExp(`^${BUILTIN_UI}$|${DIGEST.source}`),
);

const consoleSection = section('console', 'Who may use the console bridge of this module.', {
  release: optionally(digest, {
    description: "Release that the grants are for. Default: the manifest's digest.",
  }),
  ui: withDefault(array(uiArtifact), [], {
    description: "UI artifacts that may call: digests, or 'builtin' for the host's own console.",
  }),
  grants: withDefault(array(capability), [], {
    description: 'Permissions that these artifacts may use.',
  }),
});

const MAX_OPERATIONS = 1000;

const operationIds = described(
  refine(
    array(nonEmptyText()),
    `a list of 1 to ${MAX_OPERATIONS} distinct names of operations`,
    (names) =>
      names.length > 0 && names.length <= MAX_OPERATIONS && new Set(names).size === names.length,
  ),
  { minItems: 1, maxItems: MAX_OPERATIONS, uniqueItems: true },
);

const mcp = section('mcp', 'What agents may call through the surface mcp.', {
  expose: withDefault(enums(['none', 'read', 'all']), 'none', {
    description: 'read: GET routes and entities; all: other routes and actions too.',
  }),
  only: optionally(operationIds, {
    description:
      'Operations to which that is narrowed: ids of routes, entity:NAME and action:NAME. Default: all of them.',
  }),
  approve: withDefault(enums(['never', 'danger', 'always']), 'danger', {
    description:
      'Which calls wait for the approval of a person: danger are those whose danger_level is medium or high.',
  }),
});

const provider = section('provider', 'Where the calls of the module go.', {
  kind: described(nonEmptyText(), {
    description:
      'How the provider is reached: http, unix, local, process, nats, or a kind of another plugin.',
  }),
  config: withDefault(
    unknown(),
    {},
    {
      description: 'Configuration for the adapter of this kind.',
    },
  ),
});

/** The one declaration of a descriptor: its members, defaults, bounds, units and descriptions. */
export const descriptorStruct = described(
  object({
    apiVersion: optionally(literal('modgate/v1'), { description: 'Version of this format.' }),
    module: described(moduleName, {
      description: 'Name in the path of every call: /modules/{module}/http/…',
    }),
    owner: optionally(owner, {}),
    enabled: withDefault(boolean(), true, {
      description: 'false keeps the file, but the module answers 404.',
    }),
    provider,
    manifest: withDefault(
      manifestSource,
      { from: 'provider' },
      {
        description:
          'Where the manifest is: a path relative to the descriptor, inline, behind a URL, or at the provider.',
      },
    ),
    manifest_digest: optionally(digest, {
      description: 'A manifest with another digest is rejected.',
    }),
    limits: filledIn(limits),
    rate: filledIn(rate),
    identity: withDefault(boolean(), false, {
      description:
        'Whether each call carries modgate-identity, a signed token that names the actor.',
    }),
    callers: withDefault(callers, DEFAULT_CALLERS, {
      description:
        'The kinds of actors that may call the routes of the module. The list is exact; a user with the scope console.admin always may.',
    }),
    allow: optionally(allow, {}),
    public: withDefault(boolean(), false, {
      description:
        'Whether routes with `access: public` in the manifest may be called without credentials.',
    }),
    mount: mountList,
    forward_headers: withDefault(headerNames, [], {
      description: 'Request headers that the provider gets in addition to the usual ones.',
    }),
    forward_client: withDefault(boolean(), false, {
      description:
        'Whether the provider gets x-forwarded-for, -host, -proto and -prefix: the address of the client, and the one that it called.',
    }),
    responses: filledIn(responses),
    provider_errors: withDefault(enums(['problem', 'passthrough']), 'problem', {
      description:
        "passthrough returns a provider's 400, 404, 409, 410, 412, 422 and 429 to the client; problem answers 502. No effect in raw mode.",
    }),
    cache: withDefault(enums(['on', 'off']), 'on', {
      description: 'off keeps no responses, whatever the manifest says.',
    }),
    retry: filledIn(retry),
    breaker: filledIn(breaker),
    records: filledIn(records),
    probation: optionally(probation, {}),
    candidate: optionally(candidate, {}),
    schemas: filledIn(schemas),
    console: filledIn(consoleSection),
    mcp: filledIn(mcp),
  }),
  {
    title: 'modgate descriptor',
    description: 'One module that the host serves: a YAML or JSON file of the modules folder.',
  },
);

/** The members that `GET /modules` copies, unless they are absent or false. */
export const SHOWN_MEMBERS = [
  'allow',
  'owner',
  'public',
] as const satisfies readonly (keyof WireDescriptor)[];

/** A descriptor as written, with its defaults. */
export type WireDescriptor = Infer<typeof descriptorStruct>;
