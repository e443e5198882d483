import type { AttackCase, AttackClass, Verdict } from '../attack-case.js';
import { expectNoSecrets, expectRejected, parseObject, sendOnce } from '../expectations.js';
import { headerValues } from '../raw-http.js';
import { craftRequest } from '../request-bytes.js';
import { requireOwn, type Scene } from '../scene.js';

interface Row {
  readonly class: AttackClass;
  readonly name: string;
  readonly title: string;
  readonly evidence?: string;
}

/** Answers of a provider that must become a 502, by the path that the recording provider answers so. */
const REJECTED_ANSWERS: readonly Row[] = [
  ...[301, 302, 303, 307, 308].map((status) => ({
    class: 'ssrf' as const,
    name: `redirect-${status}`,
    title: `a provider that answers ${status} to a metadata address`,
    evidence: 'Kubernetes CVE-2022-3172',
  })),
  { class: 'ssrf', name: 'refresh', title: 'a provider that asks for a refresh elsewhere' },
  {
    class: 'decompression',
    name: 'gzip',
    title: 'a provider that answers in gzip',
    evidence: 'CVE-2026-111497',
  },
  {
    class: 'decompression',
    name: 'br',
    title: 'a provider that answers in Brotli',
    evidence: 'CVE-2026-111497',
  },
  {
    class: 'decompression',
    name: 'bomb',
    title: 'a provider that answers with 8 KiB that would be 8 MiB',
  },
  { class: 'decompression', name: 'te-gzip', title: 'a provider that compresses its transfer' },
  { class: 'oversize', name: 'answer', title: 'an answer of 5 MiB' },
  { class: 'oversize', name: 'answer-declared', title: 'an answer that declares 10 GB' },
  { class: 'oversize', name: 'answer-head', title: 'an answer with a head of 100 KiB' },
  { class: 'leak', name: 'html', title: 'a provider that answers with a page' },
  { class: 'leak', name: 'error-page', title: 'a provider that fails with its stack and a secret' },
  { class: 'leak', name: 'not-json', title: 'a provider whose JSON is none' },
];

/** Modules of the own host whose provider has a certificate that proves nothing. */
const TLS: readonly (readonly [name: string, title: string])[] = [
  ['unknown', 'a certificate of an unknown authority'],
  ['elsewhere', 'a certificate for another name'],
  ['expired', 'a certificate past its time'],
  ['old', 'a provider that speaks TLS 1.1 at most'],
  ['pin', 'a good certificate with another key than the one pinned'],
];

export const PROVIDER_CASES: readonly AttackCase[] = [
  ...REJECTED_ANSWERS.map(rejectAnswer),
  ...TLS.map(
    ([name, title]): AttackCase => ({
      ...describe({ class: 'tls', name, title, evidence: 'reply-from CVE-2026-107318' }),
      needs: 'own',
      attack: (scene) =>
        expectRejected(scene, craftRequest(scene, { target: `/modules/tls-${name}/http/items` }), {
          statuses: [502],
        }),
    }),
  ),
  {
    ...describe({ class: 'tls', name: 'good', title: 'a good certificate is taken all the same' }),
    needs: 'own',
    attack: async (scene) => {
      const bytes = craftRequest(scene, { target: '/modules/tls-good/http/items' });
      const answer = await sendOnce(scene, bytes);
      if (typeof answer === 'string') return answer;
      return answer.status === 200 ? null : `answered ${answer.status}`;
    },
  },
  {
    ...describe({
      class: 'leak',
      name: 'headers',
      title: 'headers of a provider',
      evidence: 'contract 1.7',
    }),
    needs: 'own',
    attack: async (scene) => {
      const answer = await ask(scene, 'headers');
      if (typeof answer === 'string') return answer;
      if (answer.status !== 200) return `answered ${answer.status}`;
      const leaked = ['set-cookie', 'server', 'x-powered-by', 'x-internal', 'location', 'link'];
      const found = leaked.find((name) => headerValues(answer.headers, name).length > 0);
      return found === undefined ? null : `the caller got ${found}`;
    },
  },
  {
    ...describe({
      class: 'leak',
      name: 'endpoint',
      title: 'the address of a provider that is down',
    }),
    needs: 'own',
    attack: async (scene) => {
      const bytes = craftRequest(scene, { target: '/modules/down/http/items' });
      const answer = await sendOnce(scene, bytes);
      if (typeof answer === 'string') return answer;
      if (answer.status !== 502) return `answered ${answer.status} instead of 502`;
      const text = answer.body.toString();
      return /127\.0\.0\.1|ECONNREFUSED|:\d{4,5}/.test(text)
        ? 'the answer names the endpoint'
        : null;
    },
  },
  {
    ...describe({
      class: 'leak',
      name: 'credentials',
      title: "a provider that repeats the host's credentials in an error",
    }),
    needs: 'own',
    attack: async (scene) => {
      const answer = await ask(scene, 'repeat-credentials');
      return typeof answer === 'string' ? answer : expectNoSecrets(scene, answer);
    },
  },
  ...['/modules', '/manifests', '/calls', '/metrics', '/problems/not_found'].map(
    (path): AttackCase => ({
      ...describe({
        class: 'leak',
        name: `route-${path.split('/')[1]}`,
        title: `secrets in GET ${path}`,
      }),
      needs: 'own',
      attack: async (scene) => {
        const token = requireOwn(scene).tokens.owner;
        const answer = await sendOnce(scene, craftRequest(scene, { target: path, token }));
        if (typeof answer === 'string') return answer;
        if (answer.status !== 200) return `answered ${answer.status} instead of 200`;
        return expectNoSecrets(scene, answer);
      },
    }),
  ),
];

function rejectAnswer(row: Row): AttackCase {
  return {
    ...describe(row),
    needs: 'own',
    attack: async (scene): Promise<Verdict> => {
      const { provider, bystander } = requireOwn(scene);
      const before = provider.seen.length;
      const answer = await ask(scene, row.name);
      if (typeof answer === 'string') return answer;
      if (answer.status !== 502) return `answered ${answer.status} instead of 502`;
      if (parseObject(answer.body)?.['code'] !== 'external_dependency_failure') return 'no Problem';
      if (bystander.seen.length > 0) return 'the redirect was followed';
      if (provider.seen.length - before !== 1) return 'the provider was not called just once';
      return expectNoSecrets(scene, answer);
    },
  };
}

function ask(scene: Scene, kind: string) {
  return sendOnce(scene, craftRequest(scene, { target: `${scene.base}/answers/${kind}` }));
}

function describe(row: Row) {
  return {
    id: `${row.class}-${row.name}`,
    class: row.class,
    title: row.title,
    ...(row.evidence !== undefined && { evidence: row.evidence }),
  };
}
