import type { Attack, Verdict } from '../attack-case.js';
import { sendOnce } from '../expectations.js';
import { CREDENTIAL_VARIABLE } from '../own-modules.js';
import type { CraftedRequest } from '../request-bytes.js';
import type { Scene } from '../scene.js';

const MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'evil',
  capabilities: [],
  http_routes: [],
};
const PLAIN = {
  module: 'evil',
  provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:9'] } },
  manifest: { inline: MANIFEST },
};
const LOCAL = { ...PLAIN, provider: { kind: 'local', config: { file: './evil.mjs' } } };
const COMMAND = { ...PLAIN, provider: { kind: 'process', config: { command: ['true'] } } };

type Files = Readonly<Record<string, string | object>>;

function publish(files: Files, as: CraftedRequest['as'] = 'publisher'): CraftedRequest {
  const encoded = Object.entries(files).map(([path, content]) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    return [path, Buffer.from(text).toString('base64')];
  });
  return {
    method: 'POST',
    target: '/releases',
    ...(as !== undefined && { as }),
    headers: [['content-type', 'application/json']],
    body: JSON.stringify({ files: Object.fromEntries(encoded), base: null }),
  };
}

const describeReference = (reference: string) => ({
  ...PLAIN,
  provider: {
    kind: 'http',
    config: { endpoints: ['http://127.0.0.1:9'], auth: { bearer: reference } },
  },
});

const PATHS: readonly (readonly [name: string, path: string])[] = [
  ['parent', '../evil.json'],
  ['absolute', '/tmp/evil.json'],
  ['middle', 'a/../../evil.json'],
  ['backslash', '..\\evil.json'],
  ['hidden', '.status/evil.json'],
  ['nul', 'evil.json\0.txt'],
];

export const RELEASE_CASES: readonly Attack[] = [
  {
    id: 'release-stranger',
    title: 'a release of a caller without the scope',
    send: publish({ 'evil.json': PLAIN }, 'stranger'),
    rejected: 403,
  },
  {
    id: 'release-code-local',
    title: 'code of a module, from a publisher without the scope for code',
    send: publish({ 'evil.json': LOCAL, 'evil.mjs': 'export default {};' }),
    rejected: 403,
  },
  {
    id: 'release-code-process',
    title: 'a command, from a publisher without the scope for code',
    send: publish({ 'evil.json': COMMAND }),
    rejected: 403,
  },
  {
    id: 'release-reference-variable',
    title: 'a variable of the host, which releases may not use',
    send: publish({ 'evil.json': describeReference(`env:${CREDENTIAL_VARIABLE}`) }),
    rejected: 403,
  },
  {
    id: 'release-reference-file',
    title: 'a file of the host as a secret',
    send: publish({ 'evil.json': describeReference('file:/etc/passwd') }),
    rejected: 403,
  },
  {
    id: 'release-file-manifest',
    title: 'a file of the host as a manifest',
    send: publish({ 'evil.json': { ...PLAIN, manifest: '/etc/passwd' } }),
    rejected: 400,
  },
  ...PATHS.map(
    ([name, path]): Attack => ({
      id: `release-path-${name}`,
      title: `a file of a release with the path ${JSON.stringify(path)}`,
      send: publish({ [path]: PLAIN }),
      rejected: 400,
    }),
  ),
  {
    id: 'release-replayed',
    title: 'a publish that is sent again, and one that comes late',
    attack: attackOrder,
  },
];

/** Accepts a rejection of the first publish, because another attack may have published before. */
async function attackOrder(scene: Scene): Promise<Verdict> {
  const first = publish({ 'first.json': PLAIN });
  await sendOnce(scene, first);
  for (const late of [first, publish({ 'late.json': PLAIN })]) {
    const response = await sendOnce(scene, late);
    if (response.status !== 409) return `the status was ${response.status} instead of 409`;
  }
  return null;
}
