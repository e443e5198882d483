import type { AttackCase, AttackClass } from '../attack-case.js';
import { expectForwarded, expectRejected } from '../expectations.js';
import { headerValues, type RawHeader } from '../raw-http.js';
import { readRecordedHeader } from '../recording-provider.js';
import { craftRequest } from '../request-bytes.js';
import type { Scene } from '../scene.js';

const ACTOR = 'service:owner';
const EVIL = 'evil-value';

interface Row {
  readonly name: string;
  readonly title: string;
  readonly evidence?: string;
  readonly headers: readonly RawHeader[];
}

/** The provider always receives the actor and the call id, and no hop-by-hop header. */
const HOP_BY_HOP: readonly Row[] = [
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
const IDENTITY: readonly Row[] = [
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
    name: 'via',
    title: 'via and max-forwards',
    headers: [
      ['via', EVIL],
      ['max-forwards', EVIL],
    ],
  },
];

const REJECTED: readonly Row[] = [
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

export const HEADER_CASES: readonly AttackCase[] = [
  ...HOP_BY_HOP.map((row) => forward('hop-by-hop', row)),
  ...IDENTITY.map((row) => forward('identity', row)),
  ...REJECTED.map(
    (row): AttackCase => ({
      ...describe('hop-by-hop', row),
      needs: 'token',
      attack: (scene) => expectRejected(scene, craftPost(scene, row.headers), { statuses: [400] }),
    }),
  ),
  {
    ...describe('identity', {
      name: 'authorization',
      title: "the caller's credential is not forwarded",
      evidence: 'Grafana CVE-2022-39201',
    }),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(scene, craftRequest(scene), ({ rawHeaders }) =>
        rawHeaders.some((text) => scene.token !== null && text.includes(scene.token))
          ? 'the provider received the credential'
          : null,
      ),
  },
  ...DERIVED.flatMap(([name, title, value]) =>
    ['x-request-id', 'x-correlation-id'].map((header) => rejectId(name, title, header, value)),
  ),
];

function forward(attackClass: AttackClass, row: Row): AttackCase {
  return {
    ...describe(attackClass, row),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(scene, craftRequest(scene, { headers: row.headers }), (recorded) => {
        const actors = readRecordedHeader(recorded, 'modgate-actor');
        if (actors.length !== 1 || actors[0] !== ACTOR)
          return `the provider received the actors ${actors.join(' ')}`;
        if (readRecordedHeader(recorded, 'modgate-call-id').length !== 1)
          return 'the provider received no call id';
        const isForwarded = recorded.rawHeaders.some((text) => text.includes(EVIL));
        return isForwarded ? 'the value was forwarded' : null;
      }),
  };
}

function craftPost(scene: Scene, headers: readonly RawHeader[]): Buffer {
  return craftRequest(scene, {
    method: 'POST',
    target: `${scene.base}/items`,
    headers: [...headers, ['content-type', 'application/json']],
    body: '{}',
  });
}

function rejectId(name: string, title: string, header: string, value: string): AttackCase {
  return {
    ...describe('crlf', { name: `${name}-${header.slice(2)}`, title: `${title}, in ${header}` }),
    needs: 'own',
    attack: (scene) =>
      expectForwarded(
        scene,
        craftRequest(scene, { headers: [[header, value]] }),
        ({ rawHeaders }, { headers }) => {
          if (rawHeaders.some((text) => text.includes(value)))
            return 'the provider received the id';
          if (headerValues(headers, 'set-cookie').length > 0) return 'a header was added';
          return headers.some(([, text]) => text.includes(value))
            ? 'the response contains it'
            : null;
        },
      ),
  };
}

function describe(attackClass: AttackClass, row: Pick<Row, 'name' | 'title' | 'evidence'>) {
  return {
    id: `${attackClass}-${row.name}`,
    class: attackClass,
    title: row.title,
    ...(row.evidence !== undefined && { evidence: row.evidence }),
  };
}
