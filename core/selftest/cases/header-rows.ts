import type { RawHeader } from '../raw-http.js';

/** The value of every header that the provider must not receive. */
export const EVIL = 'evil-value';

export type HeaderRow = readonly [
  name: string,
  title: string,
  headers: readonly RawHeader[],
  evidence?: string,
];

const evil = (...names: string[]) => names.map((name): RawHeader => [name, EVIL]);

/** The provider always receives the actor and the call id, and no hop-by-hop header. */
export const HOP_BY_HOP_ROWS: readonly HeaderRow[] = [
  [
    'connection-actor',
    'connection names the actor',
    [['connection', 'modgate-actor']],
    'Traefik CVE-2024-45410',
  ],
  [
    'connection-actor-case',
    'connection names the actor in another case',
    [['Connection', 'MODGATE-ACTOR, close']],
    'Traefik CVE-2026-29054',
  ],
  [
    'connection-authorization',
    'connection names authorization',
    [['connection', 'keep-alive, authorization']],
  ],
  [
    'connection-named',
    'connection names a forwarded header',
    [['connection', 'prefer'], ...evil('prefer')],
  ],
  [
    'connection-named-case',
    'the same in another case',
    [['connection', 'PREFER'], ...evil('Prefer')],
  ],
  [
    'connection-twice',
    'the same in a second connection header',
    [['connection', 'keep-alive'], ['connection', 'x-y , prefer'], ...evil('prefer')],
  ],
  ['keep-alive', 'keep-alive', evil('keep-alive')],
  ['proxy-connection', 'proxy-connection', evil('proxy-connection')],
  ['proxy-authorization', 'proxy-authorization', evil('proxy-authorization')],
  ['te', 'te', [['te', `trailers, ${EVIL}`]]],
  ['trailer', 'trailer', evil('trailer')],
  [
    'upgrade-websocket',
    'an upgrade to websocket',
    [['connection', 'upgrade'], ['upgrade', 'websocket'], ...evil('sec-websocket-key')],
  ],
  [
    'upgrade-h2c',
    'an upgrade to h2c',
    [['connection', 'upgrade, http2-settings'], ['upgrade', 'h2c'], ...evil('http2-settings')],
  ],
];

/** The provider receives exactly one actor, the caller. */
export const IDENTITY: readonly HeaderRow[] = [
  ['actor', 'the header of the actor', [['modgate-actor', `system:${EVIL}`]]],
  ['actor-case', 'the same in another case', [['MODGATE-ACTOR', `system:${EVIL}`]]],
  [
    'actor-underscore',
    'the same with an underscore',
    [['modgate_actor', `system:${EVIL}`]],
    'Caddy CVE-2026-30851',
  ],
  [
    'actor-mixed',
    'the same with an underscore and capitals',
    [['Modgate_Actor', `system:${EVIL}`]],
  ],
  [
    'actor-twice',
    'the same twice',
    [
      ['modgate-actor', `system:${EVIL}`],
      ['Modgate-Actor', `system:${EVIL}`],
    ],
  ],
  ['call-id', "the host's call id", evil('modgate-call-id')],
  ['deadline', 'the deadline', evil('modgate-deadline-ms', 'modgate_deadline_ms')],
  ['signed', 'the signed identity', evil('modgate-identity', 'modgate_identity')],
  ['future', 'an unused header of the host', evil('modgate-future')],
  ['forwarded-for', 'x-forwarded-for', evil('x-forwarded-for'), 'APISIX CVE-2026-31908'],
  ['forwarded-host', 'x-forwarded-host', evil('x-forwarded-host', 'x-forwarded-proto')],
  ['forwarded', 'forwarded', [['forwarded', `for=${EVIL}`]]],
  [
    'forwarded-user',
    'x-forwarded-user and similar headers',
    evil('x-forwarded-user', 'remote-user', 'x-remote-user'),
  ],
  ['real-ip', 'x-real-ip', evil('x-real-ip', 'true-client-ip')],
  [
    'client-cert',
    'the certificate of a client',
    evil('x-client-cert', 'x-ssl-client-s-dn', 'client-cert'),
  ],
  ['cookie', 'a cookie', evil('cookie'), 'Grafana CVE-2022-39201'],
  [
    'origin',
    'origin and referer',
    [
      ['origin', `https://${EVIL}`],
      ['referer', `https://${EVIL}/`],
    ],
  ],
  ['user-agent', 'a user agent', evil('user-agent')],
  ['range', 'range and cache conditions', evil('range', 'if-range')],
  ['accept', 'what the client accepts', evil('accept', 'accept-encoding', 'accept-charset')],
  [
    'mesh',
    'headers that a mesh trusts',
    evil(
      'x-envoy-original-path',
      'x-envoy-internal',
      'x-amzn-oidc-identity',
      'x-goog-authenticated-user-email',
      'x-ms-client-principal',
    ),
  ],
  [
    'forwarded-prefix',
    'x-forwarded-prefix and similar headers',
    evil('x-forwarded-prefix', 'x-original-host', 'x-host', 'x-forwarded-server'),
  ],
  [
    'debug',
    'headers that switch on debugging',
    [
      ['x-debug', EVIL],
      ['x-b3-flags', EVIL],
      ['baggage', `a=${EVIL}`],
    ],
  ],
  [
    'credentials',
    'credentials of other schemes',
    evil('x-api-key', 'x-auth-token', 'x-csrf-token'),
  ],
  [
    'connection-key',
    'connection names the idempotency key',
    [['connection', 'idempotency-key'], ...evil('idempotency-key')],
  ],
  [
    'conditions',
    'conditions that the host does not forward',
    evil('if-none-match', 'if-modified-since', 'if-unmodified-since'),
  ],
  ['via', 'via and max-forwards', evil('via', 'max-forwards')],
];

export const REJECTED: readonly HeaderRow[] = [
  ['connection-type', 'connection names content-type', [['connection', 'content-type']]],
  ['connection-type-case', 'the same in another case', [['connection', 'Content-Type']]],
  ['connection-host', 'connection names host', [['connection', 'host']]],
];
