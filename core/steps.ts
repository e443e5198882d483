import type { CallRecord } from './contract/call-record.js';
import { PASSTHROUGH_STATUSES } from './passthrough-statuses.js';

interface StepGuide {
  /** The check of the step, for the reference. */
  readonly checks: string;
  /** The remedies for operators, by the `reason` of the record. */
  readonly reasons?: Readonly<Record<string, Advice>>;
  /** The remedy for operators when the record has no listed reason. */
  readonly change: Advice;
}

type Advice = string | ((call: CallRecord) => string);

/** The status of a module whose manifest is pending. */
const WAITING_STATUS = 503;

/**
 * The one declaration of the steps of a request. The failed step is recorded for operators and
 * never sent: the client gets the code and the detail only.
 */
export const STEP_GUIDES = {
  parser: {
    checks: 'framing, header limits and time limits of a request',
    change: ({ status }) =>
      PARSER_ADVICE.get(status) ?? 'send well-formed HTTP/1.1, with one host header',
  },
  client: {
    checks: 'the address of the client, and how often its sign-ins failed',
    reasons: {
      address: (call) =>
        `add ${call.client ?? 'the address'} to allow.addresses in the descriptor of ${nameModule(call)}`,
      auth_failures: (call) =>
        `wait a minute, and find who sends wrong credentials from ${call.client ?? 'the address'}: modgate calls --code unauthorized`,
    },
    change: 'allow the address, or wait until its failed sign-ins expire',
  },
  origin: {
    checks: 'the page that made the request: CORS, and cookies from other sites',
    reasons: {
      origin: (call) => `list ${call.origin ?? 'the origin'} under cors.origins of the host`,
      method: 'use GET, HEAD, POST, PUT, PATCH or DELETE',
      headers: 'list the request header under cors.headers of the host',
      cookie: (call) =>
        `send the credentials in a header, or list ${call.origin ?? 'the origin'} under cors.origins with credentials: true`,
      site: 'open the page of the surface at the origin of --public-url: other pages cannot use it',
    },
    change: 'call from a page of the host, or list the origin under cors.origins',
  },
  host: {
    checks: "method and path of the host's own routes, surfaces, draining, and memory",
    reasons: {
      surface: (call) =>
        `ask the author of the surface of ${call.route ?? 'the path'}: it responded so`,
    },
    change: (call) =>
      HOST_ADVICE.get(call.status) ?? `find ${call.request_id} in the log of the host`,
  },
  actor: {
    checks: 'the credentials',
    reasons: {
      missing: 'send credentials, such as authorization: Bearer TOKEN',
      no_authenticator:
        'configure an authenticator for the authorization header: --tokens or --issuers',
      unknown: 'send a token that the tokens file or an issuer knows: modgate token list',
      malformed: 'send one authorization header with a scheme and a token: Bearer TOKEN',
      too_long: 'get a token of at most 15 KiB: with fewer groups, or with their numbers only',
      header: (call) =>
        `send an access token, or have its issuer leave out the header ${call.reason_detail}`,
      claim: (call) =>
        `have the issuer send the claim ${call.reason_detail} as its entry in the issuers file expects it, or correct the entry`,
      issuer: 'add the issuer of the token to the issuers file, or get a token from a listed one',
      signature: 'get a token that the issuer signed with a key of its jwks',
      audience: "get a token for the audience of the issuer's entry, or add its audience there",
      not_yet_valid: 'compare the clocks of the issuer and the host: nbf or iat is in the future',
      expired: (call) => `get a new token: ${nameToken(call)} has expired`,
      revoked: 'get a new token: the issuer reports this one as not active',
      unavailable:
        'start the issuer or the authenticator, which does not answer, and look for it in the log',
      certificate:
        'connect with a certificate of an authority in --tls-client-ca that has not expired',
    },
    change: 'sign the body that is sent: the credentials cover another one',
  },
  callers: {
    checks: 'whether the module is open to this kind of actor',
    change: (call) =>
      `add ${call.actor?.split(':', 1)[0] ?? 'the kind'} to callers in the descriptor of ${nameModule(call)}`,
  },
  path: {
    checks: 'whether any route could match the path',
    change: (call) => `correct the path${describeErrors(call)}`,
  },
  module: {
    checks: 'whether a module of this name serves',
    change: (call) =>
      call.status === WAITING_STATUS
        ? `make the manifest of ${nameModule(call)} reachable: modgate status says why it waits`
        : `add a descriptor for ${nameModule(call)}, or correct the name: modgate status lists all with their state`,
  },
  route: {
    checks: 'whether a route of the manifest matches method and path',
    change: (call) =>
      `declare ${call.method} and this path in the manifest of ${nameModule(call)}, or correct them: modgate explain ${call.method} ${call.path_named ?? 'PATH'} names the nearest routes`,
  },
  capability: {
    checks: 'the scopes of the actor',
    reasons: {
      identity:
        'give the actor fewer scopes of the module: modgate-identity has room for 4 KiB with all of them',
    },
    change: (call) => {
      const scope = findError(call, 'scope');
      if (scope !== null)
        return `give ${call.actor ?? 'the actor'} the scope ${scope}${nameRoles(call)}`;
      return `declare a capability for the route in the manifest of ${nameModule(call)}`;
    },
  },
  protocol: {
    checks: 'whether the protocol of the client can carry what the route streams',
    change: 'call with HTTP/1.1',
  },
  accept: {
    checks: 'whether the client asks for the stream of events that the route answers with',
    change: (call) => `name its media type in accept${describeErrors(call)}, without a wildcard`,
  },
  rate: {
    checks: 'rate limits of the host and of the module',
    change: (call) =>
      `call less often, or raise the limit${describeErrors(call)} (rate in the descriptor, --actor-rate of the host)`,
  },
  query: {
    checks: 'the query of a host route, or query and path of a schema',
    change: (call) => `correct the query${describeErrors(call)}`,
  },
  'idempotency-key': {
    checks: 'the idempotency-key that a route requires',
    change: 'send an idempotency-key',
  },
  body: {
    checks: 'the body: type, size, JSON, schema',
    reasons: {
      size: (call) =>
        `send less${describeErrors(call)}${call.route === null ? '' : '; limits.request_bytes bounds it'}`,
    },
    change: (call) => `correct the body${describeErrors(call)}`,
  },
  breaker: {
    checks: 'whether the circuit breaker admits the call',
    change: (call) =>
      `repair the provider of ${nameModule(call)}: its circuit breaker is open after failures, which modgate calls --module ${call.module ?? 'MODULE'} --status 502 lists`,
  },
  cache: {
    checks: 'whether the response is kept from an earlier call',
    change: 'raise --memory-budget or --actor-budget: callers read kept responses too slowly',
  },
  provider: {
    checks: 'the call of the provider, and its response',
    change: (call) =>
      PROVIDER_ADVICE.get(call.failure ?? '')?.(call) ?? 'ask the owners of the module',
  },
  // The next steps belong to the console bridge only.
  permission: {
    checks: 'whether the actor has the permission of a bridge call as a scope',
    change: (call) =>
      `give ${call.actor ?? 'the actor'} the scope of the permission in the path: ${call.path_named?.split('/').at(-1)}${nameRoles(call)}`,
  },
  grant: {
    checks: 'whether the descriptor grants the permission to the page',
    change: (call) =>
      `add the permission to console.grants in the descriptor of ${nameModule(call)}`,
  },
  release: {
    checks: 'the release digest of a bridge call',
    change: (call) =>
      `call with the release of ${nameModule(call)} that serves now: modgate status`,
  },
  ui: {
    checks: 'the digest of the page that makes a bridge call',
    change: (call) =>
      `add the digest of the page to console.ui in the descriptor of ${nameModule(call)}`,
  },
  operation: {
    checks: 'whether the manifest declares the operation, and its input',
    change: (call) =>
      `declare the operation for this permission in the manifest of ${nameModule(call)}, or correct its input${describeErrors(call)}`,
  },
} satisfies Readonly<Record<string, StepGuide>>;

export type StepName = keyof typeof STEP_GUIDES;

export const STEP_NAMES = Object.keys(STEP_GUIDES) as readonly StepName[];

const PARSER_ADVICE: ReadonlyMap<number, string> = new Map([
  [403, 'call the host under a name of loopback, or use --allow-dev-auth-anywhere'],
  [
    408,
    'send the request faster: --head-timeout-ms, --request-timeout-ms and --body-timeout-ms bound it',
  ],
  [417, 'send no expect header but 100-continue'],
  [431, 'send fewer or shorter headers: 16 KiB and --max-headers bound them'],
  [501, 'use another method: CONNECT and upgrades are not implemented'],
]);

const HOST_ADVICE: ReadonlyMap<number, string> = new Map([
  [
    404,
    'correct the path: modules are below /modules/NAME/http/, other paths are in the reference of routes',
  ],
  [405, 'use a method that the allow header of the answer lists'],
  [
    503,
    'wait until the host is ready: GET /readyz says why it is not; --memory-budget bounds what it holds',
  ],
]);

const PROVIDER_ADVICE: ReadonlyMap<string, (call: CallRecord) => string> = new Map([
  [
    'unavailable',
    (call) =>
      `start the provider, or correct its endpoints in the descriptor of ${nameModule(call)}: ${call.failure_detail}`,
  ],
  [
    'timeout',
    (call) =>
      `make the provider answer in time, or raise limits.timeout_ms in the descriptor of ${nameModule(call)}: ${call.failure_detail}`,
  ],
  [
    'overloaded',
    (call) =>
      `raise the limit in the descriptor of ${nameModule(call)} or of the host, or call less often: ${call.failure_detail}`,
  ],
  ['refused', (call) => `allow the call in the transport of the provider: ${call.failure_detail}`],
  [
    'protocol',
    (call) => `make the provider answer what this route carries: ${call.failure_detail}`,
  ],
  ['status', adviseOnStatus],
]);

/** Status 401 and 403 of the provider are about the credentials of the module, if it sends any. */
function adviseOnStatus(call: CallRecord): string {
  const { failure_detail: detail } = call;
  const status = Number(/^status (\d{3})$/.exec(detail ?? '')?.[1]);
  const module = nameModule(call);
  const raw = `responses.mode: raw in the descriptor of ${module} passes it on`;
  if (status === 401 || status === 403) {
    return `correct provider.config.auth in the descriptor of ${module}, whose credentials the provider rejected with ${detail}; if it sends none, ${raw}`;
  }
  const isPassed = PASSTHROUGH_STATUSES.some((passed) => passed === status);
  const ways = isPassed ? `provider_errors: passthrough or ${raw.replace('passes', 'pass')}` : raw;
  return `look at the provider, which answered ${detail}; ${ways}`;
}

/** The remedy for operators; `null` for a call that the host did not reject. */
export function adviseOnCall(call: CallRecord): string | null {
  const guide: StepGuide | null = isStep(call.step) ? STEP_GUIDES[call.step] : null;
  if (guide === null) return null;
  const advice = guide.reasons?.[call.reason ?? ''] ?? guide.change;
  return typeof advice === 'string' ? advice : advice(call);
}

function isStep(step: string | null | undefined): step is StepName {
  return typeof step === 'string' && Object.hasOwn(STEP_GUIDES, step);
}

function nameRoles({ roles }: CallRecord): string {
  return roles == null ? '' : `, or one of the roles that have it: ${roles}`;
}

function nameModule({ module, module_named }: CallRecord): string {
  return module ?? module_named ?? 'the module';
}

function nameToken({ token }: CallRecord): string {
  return token == null ? 'this one' : token;
}

function findError({ errors = [] }: CallRecord, field: string): string | null {
  return errors.find((error) => error.field === field)?.reason ?? null;
}

function describeErrors({ errors = [] }: CallRecord): string {
  if (errors.length === 0) return '';
  return `: ${errors.map(({ field, reason }) => (field === null ? reason : `${field} ${reason}`)).join(', ')}`;
}
