import { headerValues, type RawHeader } from '../../../core/selftest/raw-http.js';
import type { Attack } from '../attack.js';
import { readHeader } from '../scene.js';

/** The value of every header that the provider must not receive. */
const EVIL = 'evil-value';

/** Headers without a value have `EVIL`. */
type HeaderRow = readonly [
  name: string,
  title: string,
  headers: readonly string[],
  evidence?: string,
];

const toHeader = (line: string): RawHeader => {
  const [name = '', value = EVIL] = line.split(': ');
  return [name, value];
};

/** The provider always receives the actor and the call id, and no hop-by-hop header. */
const HOP_BY_HOP: readonly HeaderRow[] = [
  ['actor', 'connection names the actor', ['connection: modgate-actor'], 'Traefik CVE-2024-45410'],
  [
    'actor-case',
    'the same in another case',
    ['Connection: MODGATE-ACTOR, close'],
    'Traefik CVE-2026-29054',
  ],
  ['authorization', 'one that names authorization', ['connection: keep-alive, authorization']],
  ['named', 'one that names a forwarded header', ['connection: prefer', 'prefer']],
  ['named-case', 'the same in another case', ['connection: PREFER', 'Prefer']],
  ['twice', 'a second one', ['connection: keep-alive', 'connection: x-y , prefer', 'prefer']],
];
const OTHER_HOP_BY_HOP: readonly HeaderRow[] = [
  ...['keep-alive', 'proxy-connection', 'proxy-authorization', 'trailer'].map(
    (name) => [name, name, [name]] as const,
  ),
  ['te', 'te', [`te: trailers, ${EVIL}`]],
  [
    'upgrade-websocket',
    'an upgrade to websocket',
    ['connection: upgrade', 'upgrade: websocket', 'sec-websocket-key'],
  ],
  [
    'upgrade-h2c',
    'an upgrade to h2c',
    ['connection: upgrade, http2-settings', 'upgrade: h2c', 'http2-settings'],
  ],
];

const FORGED = `system:${EVIL}`;
/** The provider receives exactly one actor, the caller. */
const IDENTITY: readonly HeaderRow[] = [
  ['actor', 'the header of the actor', [`modgate-actor: ${FORGED}`]],
  ['actor-case', 'the same in another case', [`MODGATE-ACTOR: ${FORGED}`]],
  ['actor-underscore', 'with an underscore', [`modgate_actor: ${FORGED}`], 'Caddy CVE-2026-30851'],
  ['actor-mixed', 'with an underscore and capitals', [`Modgate_Actor: ${FORGED}`]],
  ['actor-twice', 'twice', [`modgate-actor: ${FORGED}`, `Modgate-Actor: ${FORGED}`]],
  ['call-id', "the host's call id", ['modgate-call-id']],
  ['deadline', 'the deadline', ['modgate-deadline-ms', 'modgate_deadline_ms']],
  ['signed', 'the signed identity', ['modgate-identity', 'modgate_identity']],
  ['future', 'an unused header of the host', ['modgate-future']],
  ['forwarded-for', 'x-forwarded-for', ['x-forwarded-for'], 'APISIX CVE-2026-31908'],
  ['forwarded-host', 'x-forwarded-host', ['x-forwarded-host', 'x-forwarded-proto']],
  ['forwarded', 'forwarded', [`forwarded: for=${EVIL}`]],
  ['forwarded-user', 'users', ['x-forwarded-user', 'remote-user', 'x-remote-user']],
  ['real-ip', 'x-real-ip', ['x-real-ip', 'true-client-ip']],
  ['client-cert', 'certificates', ['x-client-cert', 'x-ssl-client-s-dn', 'client-cert']],
  ['cookie', 'a cookie', ['cookie'], 'Grafana CVE-2022-39201'],
  ['origin', 'origin and referer', [`origin: https://${EVIL}`, `referer: https://${EVIL}/`]],
  ['user-agent', 'a user agent', ['user-agent']],
  ['range', 'range and cache conditions', ['range', 'if-range']],
  ['accept', 'what the client accepts', ['accept', 'accept-encoding', 'accept-charset']],
  [
    'mesh',
    'headers that a mesh trusts',
    [
      ...['x-envoy-original-path', 'x-envoy-internal', 'x-amzn-oidc-identity'],
      ...['x-goog-authenticated-user-email', 'x-ms-client-principal'],
    ],
  ],
  [
    'forwarded-prefix',
    'x-forwarded-prefix and similar headers',
    ['x-forwarded-prefix', 'x-original-host', 'x-host', 'x-forwarded-server'],
  ],
  ['debug', 'headers that switch on debugging', ['x-debug', 'x-b3-flags', `baggage: a=${EVIL}`]],
  ['credentials', 'other credentials', ['x-api-key', 'x-auth-token', 'x-csrf-token']],
  [
    'connection-key',
    'connection names the idempotency key',
    ['connection: idempotency-key', 'idempotency-key'],
  ],
  [
    'conditions',
    'conditions that the host does not forward',
    ['if-none-match', 'if-modified-since', 'if-unmodified-since'],
  ],
  ['via', 'via and max-forwards', ['via', 'max-forwards']],
];

const ACTOR = 'service:owner';

/** Invalid ids of a client, which the host must replace and never return. */
const DERIVED: readonly (readonly [name: string, title: string, value: string])[] = [
  ['encoded', 'an id with an encoded line break', 'a%0d%0aset-cookie:x=1'],
  ['space', 'an id with a space', 'a b'],
  ['colon-space', 'an id that looks like a header', 'a: b'],
  ['quote', 'an id with a quote', 'a"b'],
  ['markup', 'an id with markup', '<script>'],
  ['high', 'an id beyond ASCII', 'a\xe5\x98\x8a\xe5\x98\x8d'],
  ['tab', 'an id with a tab', 'a\tb'],
  ['long', 'an id of 129 characters', 'a'.repeat(129)],
];

export const HEADER_CASES: readonly Attack[] = [
  ...HOP_BY_HOP.map((row) => forward('hop-by-hop-connection', row)),
  ...OTHER_HOP_BY_HOP.map((row) => forward('hop-by-hop', row)),
  ...IDENTITY.map((row) => forward('identity', row)),
  {
    id: 'identity-authorization',
    title: "the caller's credential is not forwarded",
    evidence: 'Grafana CVE-2022-39201',
    send: {},
    forwarded: ({ rawHeaders }, _, { token }) =>
      rawHeaders.some((text) => token !== null && text.includes(token))
        ? 'the provider received the credential'
        : null,
  },
  ...DERIVED.flatMap(([name, title, value]) =>
    ['x-request-id', 'x-correlation-id'].map((header) => rejectId(name, title, header, value)),
  ),
];

function forward(prefix: string, [name, title, headers, evidence]: HeaderRow): Attack {
  return {
    id: `${prefix}-${name}`,
    title,
    ...(evidence !== undefined && { evidence }),
    send: { headers: headers.map(toHeader) },
    forwarded: (recorded) => {
      const actors = readHeader(recorded, 'modgate-actor');
      if (actors.length !== 1 || actors[0] !== ACTOR)
        return `the provider received the actors ${actors.join(' ')}`;
      if (readHeader(recorded, 'modgate-call-id').length !== 1)
        return 'the provider received no call id';
      const isForwarded = recorded.rawHeaders.some((text) => text.includes(EVIL));
      return isForwarded ? 'the value was forwarded' : null;
    },
  };
}

function rejectId(name: string, title: string, header: string, value: string): Attack {
  return {
    id: `crlf-${name}-${header.slice(2)}`,
    title: `${title}, in ${header}`,
    send: { headers: [[header, value]] },
    forwarded: ({ rawHeaders }, { headers }) => {
      if (rawHeaders.some((text) => text.includes(value))) return 'the provider received the id';
      if (headerValues(headers, 'set-cookie').length > 0) return 'a header was added';
      return headers.some(([, text]) => text.includes(value)) ? 'the response contains it' : null;
    },
  };
}
