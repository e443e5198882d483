import { expectNoSecrets, parseObject } from '../../../core/selftest/expectations.js';
import { headerValues, type RawHeader } from '../../../core/selftest/raw-http.js';
import type { Attack, AttackClass, CraftedRequest, Verdict } from '../attack.js';
import { expectBystanderUncalled, expectStatus, sendOnce, waitFor } from '../expectations.js';
import { ECHO_SURFACE, KEY_HEADER } from '../plugins.js';
import { listReceived, type Scene } from '../scene.js';
import { REJECTED_RESPONSES, STRIPPED_RESPONSES } from '../servers/raw-responses.js';

/** Sufficient for a record that is written after the response. */
const RECORD_DEADLINE_MS = 10_000;

type Row = readonly [attackClass: AttackClass, name: string, title: string, evidence?: string];

/** Responses of a provider that must become a 502, by the path of their script. */
const REJECTED: readonly Row[] = [
  ...REJECTED_RESPONSES.map(({ name, title }) => ['response', name, title] as const),
  ...[301, 302, 303, 307, 308].map((status): Row => {
    const title = `a redirect with ${status} to a metadata address`;
    return ['ssrf', `redirect-${status}`, title, 'Kubernetes CVE-2022-3172'];
  }),
  ['ssrf', 'refresh', 'a refresh header to another server'],
  ['decompression', 'gzip', 'a gzip response', 'CVE-2026-111497'],
  ['decompression', 'br', 'a Brotli response', 'CVE-2026-111497'],
  ['decompression', 'bomb', 'a response of 8 KiB that expands to 8 MiB'],
  ['decompression', 'te-gzip', 'a compressed transfer coding'],
  ['oversize', 'answer', 'a response of 5 MiB'],
  ['oversize', 'answer-declared', 'a response that declares 10 GB'],
  ['oversize', 'answer-head', 'a response with a head of 100 KiB'],
  ['leak', 'html', 'an HTML page'],
  ['leak', 'error-page', 'an error with a stack trace and a secret'],
  ['leak', 'not-json', 'invalid JSON'],
  ['leak', 'typed', "the host's credentials in a content type"],
];

/** Modules whose providers have invalid certificates. */
const TLS: readonly (readonly [name: string, title: string])[] = [
  ['unknown', 'a certificate of an unknown authority'],
  ['elsewhere', 'a certificate for another name'],
  ['expired', 'an expired certificate'],
  ['old', 'a provider with TLS 1.1 at most'],
  ['pin', 'a valid certificate with another key than the pinned one'],
];

export const PROVIDER_CASES: readonly Attack[] = [
  ...REJECTED.map(rejectResponse),
  ...STRIPPED_RESPONSES.map(
    ({ name, title }): Attack => ({
      id: `response-${name}`,
      title,
      attack: (scene) => expectStripped(scene, name),
    }),
  ),
  ...TLS.map(
    ([name, title]): Attack => ({
      id: `tls-${name}`,
      title,
      evidence: 'reply-from CVE-2026-107318',
      send: { target: `/modules/tls-${name}/http/items` },
      rejected: 502,
    }),
  ),
  {
    id: 'tls-good',
    title: 'a valid certificate is accepted',
    attack: (scene) => expectStatus(scene, '/modules/tls-good/http/items', 200),
  },
  {
    id: 'leak-headers',
    title: 'headers of a provider',
    attack: async (scene) => {
      const response = await callProvider(scene, 'headers', 200);
      const leaked = ['set-cookie', 'server', 'x-powered-by', 'x-internal', 'location', 'link'];
      const leakedName = leaked.find((name) => headerValues(response.headers, name).length > 0);
      return leakedName === undefined ? null : `the client received ${leakedName}`;
    },
  },
  {
    id: 'leak-endpoint',
    title: 'the address of an unreachable provider',
    attack: async (scene) => {
      const response = await sendOnce(scene, { target: '/modules/down/http/items' }, 502);
      const isNamed = /127\.0\.0\.1|ECONNREFUSED|:\d{4,5}/.test(response.body.toString());
      return isNamed ? 'the response names the endpoint' : null;
    },
  },
  {
    id: 'leak-credentials',
    title: "the host's credentials in an error of the provider",
    attack: async (scene) =>
      expectNoSecrets(scene, await callProvider(scene, 'repeat-credentials')),
  },
  {
    id: 'leak-sentence',
    title: "the host's credentials in a sentence of the provider, and in its record",
    attack: async (scene) => {
      const target = '/modules/echoing/http/answers/sentence';
      const response = await sendOnce(scene, { target }, 422);
      const record = await waitFor('the call is not recorded', RECORD_DEADLINE_MS, async () => {
        const found = await sendOnce(scene, { target: `/calls?request_id=${scene.mark}` }, 200);
        return found.body.includes('has expired') ? found : null;
      });
      return expectNoSecrets(scene, response) ?? expectNoSecrets(scene, record);
    },
  },
  {
    id: 'leak-descriptor',
    title: 'the password in a URL of a rejected descriptor',
    attack: (scene) => expectClean(scene, '/descriptors?module=refused', 'endpoints'),
  },
  ...['authorization', KEY_HEADER].map(
    (name): Attack => ({
      id: `leak-surface-${name}`,
      title: `the credential of a caller in ${name} at a surface of a plugin`,
      attack: (scene) => {
        const token = `${scene.token}`;
        const credential = [name, name === KEY_HEADER ? token : `Bearer ${token}`] as const;
        const headers: RawHeader[] = [credential, ['x-seen', 'by-the-surface']];
        return expectClean(scene, `/${ECHO_SURFACE}`, 'by-the-surface', { token: null, headers });
      },
    }),
  ),
  ...['/modules', '/manifests', '/calls', '/metrics', '/problems/not_found'].map(
    (path): Attack => ({
      id: `leak-route-${path.split('/')[1]}`,
      title: `secrets in GET ${path}`,
      attack: async (scene) => expectNoSecrets(scene, await sendOnce(scene, { target: path }, 200)),
    }),
  ),
];

function rejectResponse([attackClass, name, title, evidence]: Row): Attack {
  return {
    id: `${attackClass}-${name}`,
    title,
    ...(evidence !== undefined && { evidence }),
    attack: async (scene): Promise<Verdict> => {
      const response = await callProvider(scene, name, 502);
      if (parseObject(response.body)?.['code'] !== 'external_dependency_failure')
        return 'the response is not the expected Problem';
      if (listReceived(scene, scene.provider).length !== 1)
        return 'the provider was not called exactly once';
      return expectBystanderUncalled(scene) ?? expectNoSecrets(scene, response);
    },
  };
}

/** Headers that the host adds to every response. */
const OWN_HEADERS: ReadonlySet<string> = new Set([
  ...['content-type', 'content-length', 'x-request-id', 'x-correlation-id', 'cache-control'],
  ...['x-content-type-options', 'date', 'connection', 'keep-alive'],
]);

/** The only values of headers that a provider could also have sent; `vary` because of `cors`. */
const OWN_VALUES: ReadonlyMap<string, string> = new Map([
  ['vary', 'origin'],
  ['content-security-policy', "sandbox; default-src 'none'"],
]);

/** Expects the value of the response in the envelope of the host, without other parts of it. */
async function expectStripped(scene: Scene, kind: string): Promise<Verdict> {
  const response = await callProvider(scene, kind, 200);
  const other = response.headers.find(
    ([name, value]) =>
      !OWN_HEADERS.has(name.toLowerCase()) && OWN_VALUES.get(name.toLowerCase()) !== value,
  );
  if (other !== undefined) return `the client received ${other[0]}`;
  const data = JSON.stringify(parseObject(response.body)?.['data']);
  return data === '{"ok":true}' ? null : 'the client received another value';
}

/** Expects a 200 with this text and without secrets. */
async function expectClean(
  scene: Scene,
  target: string,
  text: string,
  request: CraftedRequest = {},
): Promise<Verdict> {
  const response = await sendOnce(scene, { target, ...request }, 200);
  const isShown = response.body.includes(text);
  return isShown ? expectNoSecrets(scene, response) : `the response does not have ${text}`;
}

function callProvider(scene: Scene, kind: string, status: number | null = null) {
  return sendOnce(scene, { target: `${scene.base}/answers/${kind}` }, status);
}
