import {
  array,
  boolean,
  define,
  dynamic,
  enums,
  type Infer,
  literal,
  object,
  refine,
  unknown,
} from 'superstruct';
import {
  type AnyStruct,
  described,
  type Keywords,
  named,
  optionally,
  when,
} from '../contract/described.js';
import { ACTOR_KINDS } from '../contract/index.js';
import { matching, nonEmptyText, numberBetween, wholeNumber } from '../document/structs.js';
import { HEADER_NAME } from '../lib/header-names.js';
import { DESCRIPTOR_DEFAULTS } from './defaults.js';
import { DEFAULT_EXPOSED } from './expose-headers.js';
import { BUILTIN_UI, capability, DIGEST, digest, moduleName } from './identifiers.js';

/** The bounds detect a wrong unit (seconds for milliseconds, MiB for bytes); they are not a policy. */
type Bounds = readonly [min: number, max: number];

const TEN_MINUTES_MS = 600_000;
const ONE_HOUR_MS = 3_600_000;
const ONE_DAY_SECONDS = 86_400;
const ONE_GIBIBYTE = 1_073_741_824;
/** More calls per second than one process can carry. */
const ONE_MILLION = 1_000_000;
/** More sockets than one process can hold. */
const MANY = 100_000;

const manifestUrl = described(
  define<string>('an http or https URL without credentials', isManifestUrl),
  {
    type: 'string',
    pattern: '^[hH][tT][tT][pP][sS]?://[^/?#@\\\\\\s]+(?:[/?#][^\\s]*)?$',
  },
);

const manifestPath = matching('a path that is not empty and has no NUL character', /^[^\0]+$/);

const notManifestSource = define<string>(
  "a path, or a mapping with one of 'inline', 'url' and 'from'",
  () => false,
);

const manifestMapping = described(
  refine(
    object({
      inline: optionally(unknown(), {
        $ref: 'manifest.schema.json',
        description: 'The manifest itself.',
      }),
      url: optionally(manifestUrl, { description: 'URL of a manifest in JSON or YAML.' }),
      from: optionally(enums(['provider']), { description: 'Requested from the provider.' }),
    }),
    "exactly one of 'inline', 'url' and 'from'",
    (value) => Object.keys(value).length === 1,
  ),
  { minProperties: 1, maxProperties: 1 },
);

/** A dynamic struct, since a union could not report which key of the mapping is wrong. */
const manifestSource = described(
  dynamic<string | Infer<typeof manifestMapping>>((value): AnyStruct => {
    if (typeof value === 'string') return manifestPath;
    const isMapping = typeof value === 'object' && value !== null && !Array.isArray(value);
    return isMapping ? manifestMapping : notManifestSource;
  }),
  when({ type: 'string' }, manifestPath, manifestMapping),
);

const callers = described(
  refine(
    array(enums(ACTOR_KINDS)),
    'a list of distinct kinds of actors, at least one',
    (kinds) => kinds.length > 0 && new Set(kinds).size === kinds.length,
  ),
  { minItems: 1, uniqueItems: true },
);

const defaults = DESCRIPTOR_DEFAULTS;

const limits = named(
  'limits',
  described(
    object({
      timeout_ms: count([1, TEN_MINUTES_MS], {
        default: defaults.limits.timeout_ms,
        description: 'Time for a whole call, retries included. Milliseconds.',
      }),
      request_bytes: count([1, ONE_GIBIBYTE], {
        default: defaults.limits.request_bytes,
        description: 'Longest body of a request. Bytes.',
      }),
      response_bytes: count([1, ONE_GIBIBYTE], {
        default: defaults.limits.response_bytes,
        description: 'Longest body of a response of the provider. Bytes.',
      }),
      concurrency: count([1, MANY], {
        default: defaults.limits.concurrency,
        description: 'Calls at the same time.',
      }),
      queue: count([0, MANY], {
        default: defaults.limits.queue,
        description: 'Calls that may wait until another one ends.',
      }),
      queue_ms: count([0, TEN_MINUTES_MS], {
        default: defaults.limits.queue_ms,
        description: 'How long a call may wait in the queue. Milliseconds.',
      }),
    }),
    { description: 'Bounds for the calls of this module.' },
  ),
);

const rate = named(
  'rate',
  described(
    object({
      per_second: amount([0, ONE_MILLION], {
        default: defaults.rate.per_second,
        description: 'Calls per second by all actors together; 0 is no limit.',
      }),
      burst: count([0, ONE_MILLION], {
        default: defaults.rate.burst,
        description: 'Calls at once; 0 is as many as per second.',
      }),
      actor_per_second: amount([0, ONE_MILLION], {
        default: defaults.rate.actor_per_second,
        description: 'Calls per second by each actor; 0 is no limit.',
      }),
      actor_burst: count([0, ONE_MILLION], {
        default: defaults.rate.actor_burst,
        description: 'Calls of an actor at once; 0 is as many as per second.',
      }),
    }),
    { description: 'How often the module may be called; more is 429.' },
  ),
);

const retry = named(
  'retry',
  described(
    object({
      attempts: count([0, 10], {
        default: defaults.retry.attempts,
        description: 'Retries at most, in addition to the first attempt.',
      }),
      budget: amount([0, 1], {
        default: defaults.retry.budget,
        description: 'What each call adds to the bucket from which a retry takes 1.',
      }),
    }),
    { description: 'Retries of calls that never reached the provider.' },
  ),
);

const breaker = named(
  'breaker',
  described(
    object({
      failures: count([1, 1000], {
        default: defaults.breaker.failures,
        description: 'Failures within the window that open a circuit breaker.',
      }),
      ratio: amount([0, 1], {
        default: defaults.breaker.ratio,
        description: 'Share of the calls within the window that must have failed, 0 to 1.',
      }),
      window_ms: count([1, ONE_HOUR_MS], {
        default: defaults.breaker.window_ms,
        description: 'Length of the window. Milliseconds.',
      }),
      open_ms: count([1, ONE_HOUR_MS], {
        default: defaults.breaker.open_ms,
        description: 'How long it stays open at first. Milliseconds.',
      }),
      max_open_ms: count([1, ONE_HOUR_MS], {
        default: defaults.breaker.max_open_ms,
        description: 'How long it stays open at most. Milliseconds.',
      }),
    }),
    { description: 'The circuit breakers of each endpoint and of its routes.' },
  ),
);

const records = named(
  'records',
  described(
    object({
      // A record holds the start of a body for reading, not a copy to keep.
      capture_bytes: count([0, 65_536], {
        default: defaults.records.capture_bytes,
        description: 'How much of each body the records of calls keep. Bytes.',
      }),
    }),
    { description: 'What the records of calls hold.' },
  ),
);

const probation = named(
  'probation',
  described(
    object({
      seconds: count([1, ONE_DAY_SECONDS], {
        default: defaults.probation.seconds,
        description: 'How long a new version is observed. Seconds.',
      }),
      max_error_rate: amount([0, 1], {
        default: defaults.probation.max_error_rate,
        description: 'Share of 502 responses above which it is rolled back, 0 to 1.',
      }),
      min_calls: count([1, MANY], {
        default: defaults.probation.min_calls,
        description: 'Calls before the share is considered.',
      }),
    }),
    {
      description:
        'Rolls back a new version if too many of its first calls end in 502. Without it, no version is rolled back.',
    },
  ),
);

const responses = named(
  'responses',
  described(
    object({
      mode: optionally(enums(['envelope', 'raw']), {
        default: defaults.responses.mode,
        description:
          "What callers get: envelope is 200 with the provider's JSON in data; raw is the provider's status and JSON.",
      }),
      expose_headers: optionally(array(matching('the name of a header', HEADER_NAME)), {
        description: `Response headers of the provider that callers get. Default: none in the envelope; in raw mode ${DEFAULT_EXPOSED.raw.join(', ')}.`,
      }),
    }),
    { description: 'What callers get of a response of the provider.' },
  ),
);

const SCHEMA_MODES = ['enforce', 'report', 'off'] as const;

const schemas = named(
  'schemas',
  described(
    object({
      input: optionally(enums(SCHEMA_MODES), {
        default: defaults.schemas.input,
        description: 'What happens to a request that violates the schemas of its route.',
      }),
      output: optionally(enums(SCHEMA_MODES), {
        default: defaults.schemas.output,
        description: 'What happens to a response that violates the schema of its route.',
      }),
    }),
    {
      description:
        'Whether the schemas of the manifest are checked. enforce rejects, report counts, off ignores.',
    },
  ),
);

const uiArtifact = matching(
  `a digest: sha256: and 64 lower-case hex digits, or ${BUILTIN_UI}`,
  new RegExp(`^${BUILTIN_UI}$|${DIGEST.source}`),
);

const consoleSection = named(
  'console',
  described(
    object({
      release: optionally(digest, {
        description: "Release that the grants are for. Default: the manifest's digest.",
      }),
      ui: optionally(array(uiArtifact), {
        default: [],
        description:
          "UI artifacts that may call: digests, or 'builtin' for the host's own console.",
      }),
      grants: optionally(array(capability), {
        default: [],
        description: 'Permissions that these artifacts may use.',
      }),
    }),
    { description: 'Who may use the console bridge of this module.' },
  ),
);

const provider = named(
  'provider',
  described(
    object({
      kind: described(nonEmptyText(), {
        description:
          'How the provider is reached: http, unix, local, process, nats, or a kind of another plugin.',
      }),
      config: optionally(unknown(), {
        default: {},
        description: 'Configuration for the adapter of this kind.',
      }),
    }),
    { description: 'Where the calls of the module go.' },
  ),
);

/** The descriptor in the words of the file. */
export const descriptorStruct = described(
  object({
    apiVersion: optionally(literal('modgate/v1'), { description: 'Version of this format.' }),
    module: described(moduleName, {
      description: 'Name in the path of every call: /modules/{module}/http/…',
    }),
    enabled: optionally(boolean(), {
      default: DESCRIPTOR_DEFAULTS.enabled,
      description: 'false keeps the file, but the module answers 404.',
    }),
    provider,
    manifest: optionally(manifestSource, {
      default: { from: 'provider' },
      description:
        'Where the manifest is: a path relative to the descriptor, inline, behind a URL, or at the provider.',
    }),
    manifest_digest: optionally(digest, {
      description: 'A manifest with another digest is rejected.',
    }),
    limits: optionally(limits, {}),
    rate: optionally(rate, {}),
    identity: optionally(boolean(), {
      default: DESCRIPTOR_DEFAULTS.identity,
      description:
        'Whether each call carries modgate-identity, a signed token that names the actor.',
    }),
    callers: optionally(callers, {
      default: DESCRIPTOR_DEFAULTS.callers,
      description:
        'The kinds of actors that may call the routes of the module. The list is exact; a user with the scope console.admin always may.',
    }),
    forward_headers: optionally(array(matching('the name of a header', HEADER_NAME)), {
      default: [],
      description: 'Request headers that the provider gets in addition to the usual ones.',
    }),
    responses: optionally(responses, {}),
    provider_errors: optionally(enums(['problem', 'passthrough']), {
      default: DESCRIPTOR_DEFAULTS.provider_errors,
      description:
        "passthrough returns a provider's 400, 404, 409, 410, 412, 422 and 429 to the client; problem answers 502. No effect in raw mode.",
    }),
    retry: optionally(retry, {}),
    breaker: optionally(breaker, {}),
    records: optionally(records, {}),
    probation: optionally(probation, {}),
    schemas: optionally(schemas, {}),
    console: optionally(consoleSection, {}),
  }),
  {
    title: 'modgate descriptor',
    description: 'One module that the host serves: a YAML or JSON file of the modules folder.',
  },
);

export type WireDescriptor = Infer<typeof descriptorStruct>;

function count(bounds: Bounds, keywords: Keywords) {
  return optionally(wholeNumber(...bounds), keywords);
}

function amount(bounds: Bounds, keywords: Keywords) {
  return optionally(numberBetween(...bounds), keywords);
}

function isManifestUrl(value: unknown): boolean {
  if (typeof value !== 'string' || !/^https?:\/\//i.test(value)) return false;
  if (!URL.canParse(value)) return false;
  const { username, password } = new URL(value);
  return username === '' && password === '';
}
