import type { RawHeader } from '../raw-http.js';

/** The value of every header that the provider must not receive. */
export const EVIL = 'evil-value';

/** Additional headers of a request. */
export interface HeaderRow {
  readonly name: string;
  readonly title: string;
  readonly evidence?: string;
  readonly headers: readonly RawHeader[];
}

/** The provider always receives the actor and the call id, and no hop-by-hop header. */
export const HOP_BY_HOP_ROWS: readonly HeaderRow[] = [
  {
    name: 'connection-actor',
    title: 'connection names the actor',
    evidence: 'Traefik CVE-2024-45410',
    headers: [['connection', 'modgate-actor']],
  },
  {
    name: 'connection-actor-case',
    title: 'connection names the actor in another case',
    evidence: 'Traefik CVE-2026-29054',
    headers: [['Connection', 'MODGATE-ACTOR, close']],
  },
  {
    name: 'connection-authorization',
    title: 'connection names authorization',
    headers: [['connection', 'keep-alive, authorization']],
  },
  {
    name: 'connection-named',
    title: 'connection names a forwarded header',
    headers: [
      ['connection', 'prefer'],
      ['prefer', EVIL],
    ],
  },
  {
    name: 'connection-named-case',
    title: 'the same in another case',
    headers: [
      ['connection', 'PREFER'],
      ['Prefer', EVIL],
    ],
  },
  {
    name: 'connection-twice',
    title: 'the same in a second connection header',
    headers: [
      ['connection', 'keep-alive'],
      ['connection', 'x-y , prefer'],
      ['prefer', EVIL],
    ],
  },
  { name: 'keep-alive', title: 'keep-alive', headers: [['keep-alive', EVIL]] },
  { name: 'proxy-connection', title: 'proxy-connection', headers: [['proxy-connection', EVIL]] },
  {
    name: 'proxy-authorization',
    title: 'proxy-authorization',
    headers: [['proxy-authorization', EVIL]],
  },
  { name: 'te', title: 'te', headers: [['te', `trailers, ${EVIL}`]] },
  { name: 'trailer', title: 'trailer', headers: [['trailer', EVIL]] },
  {
    name: 'upgrade-websocket',
    title: 'an upgrade to websocket',
    headers: [
      ['connection', 'upgrade'],
      ['upgrade', 'websocket'],
      ['sec-websocket-key', EVIL],
    ],
  },
  {
    name: 'upgrade-h2c',
    title: 'an upgrade to h2c',
    headers: [
      ['connection', 'upgrade, http2-settings'],
      ['upgrade', 'h2c'],
      ['http2-settings', EVIL],
    ],
  },
];

/** The provider receives exactly one actor, the caller. */
export const IDENTITY: readonly HeaderRow[] = [
  {
    name: 'actor',
    title: 'the header of the actor',
    headers: [['modgate-actor', `system:${EVIL}`]],
  },
  {
    name: 'actor-case',
    title: 'the same in another case',
    headers: [['MODGATE-ACTOR', `system:${EVIL}`]],
  },
  {
    name: 'actor-underscore',
    title: 'the same with an underscore',
    evidence: 'Caddy CVE-2026-30851',
    headers: [['modgate_actor', `system:${EVIL}`]],
  },
  {
    name: 'actor-mixed',
    title: 'the same with an underscore and capitals',
    headers: [['Modgate_Actor', `system:${EVIL}`]],
  },
  {
    name: 'actor-twice',
    title: 'the same twice',
    headers: [
      ['modgate-actor', `system:${EVIL}`],
      ['Modgate-Actor', `system:${EVIL}`],
    ],
  },
  { name: 'call-id', title: "the host's call id", headers: [['modgate-call-id', EVIL]] },
  {
    name: 'deadline',
    title: 'the deadline',
    headers: [
      ['modgate-deadline-ms', EVIL],
      ['modgate_deadline_ms', EVIL],
    ],
  },
  {
    name: 'signed',
    title: 'the signed identity',
    headers: [
      ['modgate-identity', EVIL],
      ['modgate_identity', EVIL],
    ],
  },
  {
    name: 'future',
    title: 'an unused header of the host',
    headers: [['modgate-future', EVIL]],
  },
  {
    name: 'forwarded-for',
    title: 'x-forwarded-for',
    evidence: 'APISIX CVE-2026-31908',
    headers: [['x-forwarded-for', EVIL]],
  },
  {
    name: 'forwarded-host',
    title: 'x-forwarded-host',
    headers: [
      ['x-forwarded-host', EVIL],
      ['x-forwarded-proto', EVIL],
    ],
  },
  { name: 'forwarded', title: 'forwarded', headers: [['forwarded', `for=${EVIL}`]] },
  {
    name: 'forwarded-user',
    title: 'x-forwarded-user and similar headers',
    headers: [
      ['x-forwarded-user', EVIL],
      ['remote-user', EVIL],
      ['x-remote-user', EVIL],
    ],
  },
  {
    name: 'real-ip',
    title: 'x-real-ip',
    headers: [
      ['x-real-ip', EVIL],
      ['true-client-ip', EVIL],
    ],
  },
  {
    name: 'client-cert',
    title: 'the certificate of a client',
    headers: [
      ['x-client-cert', EVIL],
      ['x-ssl-client-s-dn', EVIL],
      ['client-cert', EVIL],
    ],
  },
  {
    name: 'cookie',
    title: 'a cookie',
    evidence: 'Grafana CVE-2022-39201',
    headers: [['cookie', EVIL]],
  },
  {
    name: 'origin',
    title: 'origin and referer',
    headers: [
      ['origin', `https://${EVIL}`],
      ['referer', `https://${EVIL}/`],
    ],
  },
  { name: 'user-agent', title: 'a user agent', headers: [['user-agent', EVIL]] },
  {
    name: 'range',
    title: 'range and cache conditions',
    headers: [
      ['range', EVIL],
      ['if-range', EVIL],
    ],
  },
  {
    name: 'accept',
    title: 'what the client accepts',
    headers: [
      ['accept', EVIL],
      ['accept-encoding', EVIL],
      ['accept-charset', EVIL],
    ],
  },
  {
    name: 'mesh',
    title: 'headers that a mesh trusts',
    headers: [
      ['x-envoy-original-path', EVIL],
      ['x-envoy-internal', EVIL],
      ['x-amzn-oidc-identity', EVIL],
      ['x-goog-authenticated-user-email', EVIL],
      ['x-ms-client-principal', EVIL],
    ],
  },
  {
    name: 'forwarded-prefix',
    title: 'x-forwarded-prefix and similar headers',
    headers: [
      ['x-forwarded-prefix', EVIL],
      ['x-original-host', EVIL],
      ['x-host', EVIL],
      ['x-forwarded-server', EVIL],
    ],
  },
  {
    name: 'debug',
    title: 'headers that switch on debugging',
    headers: [
      ['x-debug', EVIL],
      ['x-b3-flags', EVIL],
      ['baggage', `a=${EVIL}`],
    ],
  },
  {
    name: 'credentials',
    title: 'credentials of other schemes',
    headers: [
      ['x-api-key', EVIL],
      ['x-auth-token', EVIL],
      ['x-csrf-token', EVIL],
    ],
  },
  {
    name: 'connection-key',
    title: 'connection names the idempotency key',
    headers: [
      ['connection', 'idempotency-key'],
      ['idempotency-key', EVIL],
    ],
  },
  {
    name: 'conditions',
    title: 'conditions that the host does not forward',
    headers: [
      ['if-none-match', EVIL],
      ['if-modified-since', EVIL],
      ['if-unmodified-since', EVIL],
    ],
  },
  {
    name: 'via',
    title: 'via and max-forwards',
    headers: [
      ['via', EVIL],
      ['max-forwards', EVIL],
    ],
  },
];

/** The request must be rejected. */
export const REJECTED: readonly HeaderRow[] = [
  {
    name: 'connection-type',
    title: 'connection names content-type',
    headers: [['connection', 'content-type']],
  },
  {
    name: 'connection-type-case',
    title: 'the same in another case',
    headers: [['connection', 'Content-Type']],
  },
  { name: 'connection-host', title: 'connection names host', headers: [['connection', 'host']] },
];
