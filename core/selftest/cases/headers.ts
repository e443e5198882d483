import type { Attack, AttackClass } from '../attack-case.js';
import { headerValues } from '../raw-http.js';
import { readRecordedHeader } from '../recording-provider.js';
import { EVIL, type HeaderRow, HOP_BY_HOP_ROWS, IDENTITY, REJECTED } from './header-rows.js';

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
  ...HOP_BY_HOP_ROWS.map((row) => forward('hop-by-hop', row)),
  ...IDENTITY.map((row) => forward('identity', row)),
  ...REJECTED.map(
    ([name, title, headers]): Attack => ({
      id: `hop-by-hop-${name}`,
      title,
      needs: 'token',
      send: {
        method: 'POST',
        path: '/items',
        body: '{}',
        headers: [...headers, ['content-type', 'application/json']],
      },
      rejected: 400,
    }),
  ),
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

function forward(attackClass: AttackClass, [name, title, headers, evidence]: HeaderRow): Attack {
  return {
    id: `${attackClass}-${name}`,
    title,
    ...(evidence !== undefined && { evidence }),
    send: { headers },
    forwarded: (recorded) => {
      const actors = readRecordedHeader(recorded, 'modgate-actor');
      if (actors.length !== 1 || actors[0] !== ACTOR)
        return `the provider received the actors ${actors.join(' ')}`;
      if (readRecordedHeader(recorded, 'modgate-call-id').length !== 1)
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
