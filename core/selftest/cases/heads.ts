import type { Attack } from '../attack-case.js';
import type { RawHeader } from '../raw-http.js';
import type { CraftedRequest } from '../request-bytes.js';

/** Names of headers that `connection` may not remove. */
const NAMED_BY_CONNECTION: readonly (readonly [name: string, title: string, named: string])[] = [
  ['type', 'connection names content-type', 'content-type'],
  ['type-case', 'the same in another case', 'Content-Type'],
  ['host', 'connection names host', 'host'],
];

const LONG_PATHS = { target: 'a'.repeat(20_000), 'target-segments': 'a/'.repeat(10_000) };

/** A backtracking expression takes minutes for these texts. The limit allows for a loaded machine. */
const MAX_RESPONSE_MS = 5_000;

const SLOW_TEXTS: readonly (readonly [
  name: string,
  title: string,
  header: string,
  value: string,
])[] = [
  ['accept', 'an accept of 8,000 parameters', 'accept', `a${';q=0'.repeat(2_500)},`],
  [
    'type',
    'a content type of 10,000 spaces',
    'content-type',
    `application/json${' ;'.repeat(5_000)}x`,
  ],
  ['scheme', 'a credential of 10,000 spaces', 'x-authorization', `Bearer${' '.repeat(10_000)}x`],
  ['id', 'an id of 10,000 characters', 'x-request-id', `${'a'.repeat(10_000)}!`],
  ['traceparent', 'a traceparent of 10,000 characters', 'traceparent', `00-${'0'.repeat(10_000)}-`],
  ['tracestate', 'a tracestate of 2,000 members', 'tracestate', 'a=b,'.repeat(2_000)],
  ['connection', 'a connection of 5,000 names', 'connection', 'a ,'.repeat(4_000)],
  ['language', 'an accept-language of 3,000 ranges', 'accept-language', 'en;q=0.1,'.repeat(1_300)],
];

/** A host whose cost grows faster than these heads needs more than `MAX_RESPONSE_MS` for all. */
const REPEATS = 150;
const REPEATED_HEADS: readonly (readonly [name: string, title: string, request: CraftedRequest])[] =
  [
    [
      'recorded',
      'heads whose encoded path and cookies are searched for each other',
      {
        path: `/items/${'%2525'.repeat(1_500)}`,
        headers: [
          ['cookie', Array.from({ length: 500 }, (_, n) => `a=${10_000_000 + n}`).join(';')],
        ],
      },
    ],
    ['segments', 'paths of 3,800 encoded slashes', { path: '/%2F'.repeat(3_800) }],
  ];

/** Heads that are ambiguous, too long or costly. */
export const HEAD_CASES: readonly Attack[] = [
  ...NAMED_BY_CONNECTION.map(
    ([name, title, named]): Attack => ({
      id: `hop-by-hop-connection-${name}`,
      title,
      send: {
        ...{ method: 'POST', path: '/items', body: '{}' },
        headers: [
          ['connection', named],
          ['content-type', 'application/json'],
        ],
      },
      rejected: 400,
    }),
  ),
  ...Object.entries(LONG_PATHS).map(
    ([name, text], index): Attack => ({
      id: `oversize-${name}`,
      title: `a target of 20 kB (${index + 1})`,
      send: { path: `/items/${text}` },
      rejected: [400, 404, 414, 431],
      closes: true,
    }),
  ),
  rejectLong('header', 'a header of 20 kB', [['x-long', 'a'.repeat(20_000)]]),
  rejectLong('header-name', 'a name of 20 kB', [['x'.repeat(20_000), 'a']]),
  rejectLong(
    'headers',
    '5,000 headers',
    Array.from({ length: 5_000 }, (_, index) => [`x-${index}`, 'a'] as const),
  ),
  ...SLOW_TEXTS.map(([name, title, header, value]) => {
    const request = { path: '/items/%', headers: [[header, value]] as const };
    return rejectInTime(name, title, request, [400, 404, 401]);
  }),
  rejectInTime(
    'target',
    'a target of 1,500 encoded characters and dots',
    { path: `/files/${'%61;.'.repeat(1_500)}/%2e` },
    [404],
  ),
  ...REPEATED_HEADS.map(([name, title, request]) =>
    rejectInTime(name, title, request, [404], REPEATS),
  ),
];

function rejectLong(name: string, title: string, headers: readonly RawHeader[]): Attack {
  return { id: `oversize-${name}`, title, send: { headers }, rejected: 431, closes: true };
}

function rejectInTime(
  name: string,
  title: string,
  send: CraftedRequest,
  rejected: readonly number[],
  times = 1,
): Attack {
  return { id: `redos-${name}`, title, send, rejected, times, withinMs: MAX_RESPONSE_MS };
}
