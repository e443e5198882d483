import { type Finding, listClass, listNames } from './finding.js';

/** Findings about long bodies, agents, WebSockets and releases. */
export const STREAM_FINDINGS: readonly Finding[] = [
  {
    subject: 'long responses that turn bad after their heads',
    cases: listNames('response-long-').filter((id) => id !== 'response-long-good'),
    weakened: 'ends each response that breaks off',
  },
  {
    subject: 'long bodies that turn bad after their starts',
    cases: [
      ...[...listNames('json-long-'), 'oversize-long-body', 'oversize-long-trailers'],
      ...['smuggling-long-size', 'smuggling-long-lf', 'smuggling-long-longer'],
      'smuggling-long-cut',
    ],
    weakened: 'forwards bodies before they have proved good',
  },
  {
    subject: 'a request in the rest of a body that was not read',
    cases: ['smuggling-long-early'],
    weakened: 'reads the rest of a body as a request',
  },
  {
    subject: 'a trailer behind a long body',
    cases: ['smuggling-long-trailer'],
    weakened: 'forwards trailers as headers',
  },
  {
    subject: 'a response whose head never ends',
    cases: ['oversize-answer-head-endless'],
    weakened: 'answers before the head of the provider ends',
  },
  {
    subject: 'heads and trailers that never end',
    cases: ['oversize-head-endless', 'oversize-long-trailers'],
    weakened: 'reads heads and trailers without an end',
    waits: true,
  },
  {
    subject: 'long bodies that are read or sent slowly',
    cases: listNames('slow-long-'),
    weakened: 'waits for slow bodies',
    waits: true,
  },
  {
    subject: 'arguments of tools that leave their place in the path',
    cases: [...listNames('mcp-path-'), ...listNames('mcp-rest-')],
    weakened: 'writes arguments into paths as they are',
  },
  {
    subject: 'names that are not those of tools of the caller',
    cases: listNames('mcp-name-'),
    weakened: 'calls any tool',
  },
  {
    subject: 'arguments of many levels',
    cases: ['mcp-deep'],
    weakened: 'reads arguments of any depth',
  },
  {
    subject: 'schemas of tools that grow without a bound',
    cases: ['mcp-schema-bomb'],
    weakened: 'writes each schema where it is named',
  },
  {
    subject: 'pages of other origins that call tools',
    cases: listNames('mcp-origin-'),
    weakened: 'serves pages of any origin',
  },
  {
    subject: 'an approval that is used twice',
    cases: ['mcp-approval-replay'],
    weakened: 'uses an approval again',
  },
  {
    subject: 'an approval of another call',
    cases: ['arguments', 'number', 'more', 'tool', 'header', 'caller'].map(
      (name) => `mcp-approval-${name}`,
    ),
    weakened: 'uses an approval for another call',
  },
  {
    subject: 'a request that its caller approves',
    cases: ['mcp-approval-self'],
    weakened: 'lets people approve their own requests',
  },
  {
    subject: 'characters that the person who decides cannot see',
    cases: ['mcp-approval-hidden'],
    weakened: 'shows hidden characters',
  },
  {
    subject: 'a request behind a handshake, which was served',
    cases: [
      ...['websocket-declined', 'websocket-accept', 'websocket-anonymous', 'websocket-version'],
      ...['websocket-h2c', 'websocket-opened'],
    ],
    weakened: 'serves what follows a handshake',
  },
  {
    subject: 'heads of handshakes without an end',
    cases: listNames('websocket-head-'),
    weakened: 'reads any head of a handshake',
    waits: true,
  },
  {
    subject: 'frames that are malformed, compressed or masked on the wrong side',
    cases: [...listNames('websocket-client-'), ...listNames('websocket-provider-')],
    weakened: 'passes any frame',
  },
  {
    subject: 'tokens among the subprotocols, which a provider could read and choose',
    cases: [
      ...listNames('websocket-bearer-').filter((id) => id !== 'websocket-bearer-recorded'),
      ...listNames('websocket-chosen-'),
    ],
    weakened: 'takes subprotocols as they come',
  },
  {
    subject: 'tokens among the subprotocols, which were recorded',
    cases: ['websocket-bearer-recorded'],
    weakened: 'records subprotocols',
  },
  {
    subject: 'WebSockets that a page of another origin opens with a cookie',
    cases: listNames('websocket-cookie-'),
    weakened: 'opens WebSockets for any page',
  },
  {
    subject: 'a flood for a client that reads nothing',
    cases: ['websocket-unread-client'],
    weakened: 'reads for clients that do not',
    waits: true,
  },
  {
    subject: 'releases with files, secrets and code that their publisher may not use',
    cases: listClass('release').filter((id) => id !== 'release-replayed'),
    weakened: 'takes any release',
  },
  {
    subject: 'a release that is published again, or late',
    cases: ['release-replayed'],
    weakened: 'ignores the base of a release',
  },
  {
    subject: 'a list of hosts that callers could write',
    cases: ['admin-heartbeat'],
    weakened: 'takes heartbeats of callers',
  },
];
