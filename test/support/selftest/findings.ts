import { type Finding, listClass, listNames } from './finding.js';
import { STREAM_FINDINGS } from './stream-findings.js';

export const FINDINGS: readonly Finding[] = [
  {
    subject: "one caller's exchanged token for another",
    cases: ['jwt-exchange-caller'],
    weakened: 'keeps one exchanged token for all callers',
    waits: true,
  },
  {
    subject: 'a token of another issuer at a token endpoint',
    cases: ['jwt-exchange-issuer'],
    weakened: 'exchanges tokens of any issuer',
    waits: true,
  },
  {
    subject: 'a provider that repeats an exchanged token',
    cases: ['leak-exchanged-token'],
    weakened: 'shows exchanged tokens',
  },
  {
    subject: 'a token endpoint that redirects',
    cases: ['ssrf-token-endpoint'],
    weakened: 'follows redirects of a token endpoint',
  },
  {
    subject: 'roles that a claim makes up',
    cases: ['jwt-role-made-up'],
    weakened: 'gives any role that a claim names',
  },
  {
    subject: 'a role by the name that another issuer has for it',
    cases: ['jwt-role-elsewhere'],
    weakened: 'knows the names that all issuers have for roles',
  },
  {
    subject: 'a scope that an issuer cannot grant, through a role',
    cases: ['jwt-role-bounded'],
    weakened: 'gives every scope of a role',
  },
  {
    subject: 'names of DNS with addresses of the host and of metadata services',
    cases: listNames('ssrf-name-'),
    weakened: 'calls any address of a name',
    waits: true,
  },
  {
    subject: 'an SRV record that points TLS at another name',
    cases: ['tls-name-target'],
    weakened: 'accepts the certificate of the target of a name',
  },
  {
    subject: 'copies with credentials of the caller',
    cases: ['candidate-credentials'],
    weakened: 'copies what the caller sends',
  },
  {
    subject: 'a candidate that redirects',
    cases: ['candidate-redirect'],
    weakened: 'follows redirects of a candidate',
  },
  {
    subject: 'a candidate whose answer the caller gets',
    cases: ['candidate-answer'],
    weakened: 'answers with a candidate',
  },
  {
    subject: 'copies of calls that change data',
    cases: ['candidate-method'],
    weakened: 'copies calls of every method',
  },
  {
    subject: 'values of a candidate in the differences',
    cases: ['candidate-names', 'candidate-echo'],
    weakened: 'shows values of a candidate',
  },
  {
    subject: 'a candidate that hangs, never ends or answers 50 MiB',
    cases: ['candidate-hang', 'candidate-endless', 'candidate-large'],
    weakened: 'waits for a candidate',
    waits: true,
  },
  {
    subject: 'spellings of a mount that lead to its module',
    cases: [
      ...['mount-encoded', 'mount-encoded-slash', 'mount-double-slash', 'mount-case'],
      ...['mount-parameter', 'mount-dots-into', 'mount-dots-out', 'mount-dots-encoded'],
    ],
    weakened: 'decodes a path before it looks for mounts',
  },
  {
    subject: 'a header that names the host of a mount',
    cases: ['mount-forwarded-host'],
    weakened: 'finds mounts by any header',
  },
  {
    subject: 'hosts that only contain the host of a mount',
    cases: ['mount-host-longer', 'mount-host-below', 'mount-host-list', 'mount-host-absolute'],
    weakened: 'finds mounts by a part of the host',
  },
  {
    subject: 'routes of the host under the name of a mount',
    cases: ['mount-host-modules', 'mount-host-metrics', 'mount-host-other'],
    weakened: 'keeps its own routes under every name',
  },
  {
    subject: 'a route below a mount without its capability',
    cases: ['mount-locked'],
    weakened: 'needs no capability below a mount',
  },
  {
    subject: 'a mount that takes a path of the host',
    cases: ['mount-shadow'],
    weakened: 'lets a module take any path',
  },
  {
    subject: 'requests that are pipelined without a pause, responses that are never read',
    cases: ['neighbors-flood', 'neighbors-unread', 'websocket-unread-provider'],
    weakened: 'reads without a bound',
  },
  {
    subject: 'a request behind one with Upgrade, which was read as new',
    cases: [
      ...['smuggling-upgrade-same', 'smuggling-upgrade-next'],
      ...['smuggling-upgrade-body', 'smuggling-upgrade-settings'],
    ],
    weakened: 'ignores Upgrade',
  },
  {
    subject: 'one route that fails, which opened the circuit breaker of all routes',
    cases: ['neighbors-breaker'],
    weakened: 'has one circuit breaker for all routes',
  },
  {
    subject: 'random tokens, which left no room for the introspection of others',
    cases: ['neighbors-introspection-format', 'neighbors-introspection-repeat'],
    weakened: 'asks the issuer about every token',
  },
  {
    subject: 'a response of unknown length, which was complete whenever its connection closed',
    cases: ['response-cut-unknown'],
    weakened: 'takes a closed connection for the end of a response',
  },
  {
    subject: 'a context of the console, which a response repeated 200 times',
    cases: ['cross-module-repeated-context'],
    weakened: 'repeats a context without a bound',
  },
  {
    subject: 'an error, which took the place of the response to an earlier request',
    cases: ['smuggling-connect-behind', 'smuggling-garbage-behind'],
    weakened: 'answers errors first',
  },
  {
    subject: 'metrics, which a page could read that rebinds its name to loopback',
    cases: ['host-metrics'],
    weakened: 'shows metrics under any name',
  },
  {
    subject: 'explanations, which revealed the owners of guessed tokens without a limit',
    cases: ['guard-explain-guess'],
    weakened: 'explains without a limit',
  },
  {
    subject: 'metrics, which a client could read behind a proxy that passes on its host',
    cases: ['host-metrics-proxy'],
    weakened: 'takes a proxy for a client',
  },
  {
    subject: 'bodies without credentials, which were read before their surface was asked',
    cases: [
      ...['oversize-anonymous-docs', 'oversize-anonymous-sign-in', 'oversize-anonymous-console'],
    ],
    weakened: 'reads any body',
  },
  {
    subject: 'a final slash, which stood for the route without it',
    cases: ['path-final-slash'],
    weakened: 'ignores a final slash',
  },
  {
    subject: 'a mixed segment, which stood for its neighbors',
    cases: ['path-mixed-neighbor', 'path-mixed-slash'],
    weakened: 'lets a mixed segment stand for its neighbors',
  },
  {
    subject: 'encoded characters, which lead elsewhere when they are decoded again',
    cases: [
      'path-encoded-dots',
      'path-encoded-matrix',
      'path-encoded-twice',
      'path-encoded-reverse',
    ],
    weakened: 'forwards any encoded character',
  },
  { subject: 'RTSP, which was served', cases: ['guard-rtsp'], weakened: 'serves RTSP' },
  {
    subject: 'two members of one name in an action, of which the audit had one',
    cases: ['cross-module-repeated', 'cross-module-repeated-deep', 'mcp-repeated-member'],
    weakened: 'keeps the last of two members',
  },
  {
    subject: 'invalid trace headers, which were forwarded',
    cases: listClass('trace'),
    weakened: 'forwards trace headers unchecked',
  },
  {
    subject: 'configuration, which any granted capability read and wrote',
    cases: [
      ...['cross-module-config-reader', 'cross-module-config-route-read'],
      ...['cross-module-config-route-write', 'cross-module-config-action-write'],
    ],
    weakened: 'opens configuration to every capability',
  },
  {
    subject: 'addresses that a module does not allow',
    cases: listNames('guard-address-'),
    weakened: 'checks no addresses',
  },
  {
    subject: 'what a public route does not open',
    cases: listNames('guard-public-').filter((id) => id !== 'guard-public-actor'),
    weakened: 'opens a module where one route is public',
  },
  {
    subject: 'wrong credentials from one address without a bound',
    cases: ['guard-failures'],
    weakened: 'counts no wrong credentials',
  },
  {
    subject: 'requests of one actor without a bound',
    cases: ['neighbors-actor-rate'],
    weakened: 'counts no requests of an actor',
  },
  {
    subject: 'bodies that were checked by a schema while all others waited',
    cases: ['neighbors-schema'],
    weakened: 'checks bodies on its event loop',
  },
  {
    subject: 'an ID token with another signature, and the answer to another sign-in',
    cases: ['console-oidc-forged', 'console-oidc-state', 'console-oidc-replayed'],
    weakened: 'takes any answer of an issuer',
  },
  {
    subject: 'one answer of an issuer, which made 2,000 requests with the secret',
    cases: ['console-oidc-replayed'],
    weakened: 'exchanges a code again',
  },
  {
    subject: 'sign-ins that wait for a slow issuer, which took the room of others',
    cases: ['console-oidc-slow'],
    weakened: 'lets any number wait for an issuer',
  },
  {
    subject: 'credentials of the host, which a provider or a rejected file repeats',
    cases: ['leak-sentence', 'leak-descriptor'],
    weakened: 'masks nothing',
  },
  {
    subject: 'credentials of callers, which surfaces of plugins could read',
    cases: listNames('leak-surface-'),
    weakened: 'shows surfaces every header',
  },
  {
    subject: 'a kept response that another caller got',
    cases: ['cache-actor'],
    weakened: 'keeps one response for all callers',
  },
  {
    subject: 'a kept response that the headers of another request had changed',
    cases: ['cache-poisoned'],
    weakened: 'keeps one response for all headers',
  },
  {
    subject: 'kept responses that any caller could remove',
    cases: ['cache-purge'],
    weakened: 'lets anybody purge',
  },
  ...STREAM_FINDINGS,
];
