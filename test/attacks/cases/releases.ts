import { type Attack, type CraftedRequest, reject, type Verdict } from '../attack.js';
import { sendOnce } from '../expectations.js';
import { CREDENTIAL_VARIABLE, type OwnToken, type Scene } from '../scene.js';

const MANIFEST = { protocol: 'modgate.manifest.v1', module_id: 'evil' };
const PLAIN = {
  module: 'evil',
  provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:9'] } },
  manifest: { inline: { ...MANIFEST, capabilities: [], http_routes: [] } },
};
const withProvider = (kind: string, config: object) => ({ ...PLAIN, provider: { kind, config } });
const withBearer = (bearer: string) =>
  withProvider('http', { endpoints: ['http://127.0.0.1:9'], auth: { bearer } });

type Files = Readonly<Record<string, string | object>>;

function publish(files: Files, as: OwnToken = 'publisher'): CraftedRequest {
  const encoded = Object.entries(files).map(([path, content]) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    return [path, Buffer.from(text).toString('base64')];
  });
  const body = JSON.stringify({ files: Object.fromEntries(encoded), base: null });
  return { method: 'POST', target: '/releases', as, body };
}

const PATHS: readonly (readonly [name: string, path: string])[] = [
  ['parent', '../evil.json'],
  ['absolute', '/tmp/evil.json'],
  ['middle', 'a/../../evil.json'],
  ['backslash', '..\\evil.json'],
  ['hidden', '.status/evil.json'],
  ['nul', 'evil.json\0.txt'],
];

const FORBIDDEN: readonly (readonly [name: string, title: string, files: Files])[] = [
  [
    'code-local',
    'code of a module, from a publisher without the scope for code',
    {
      'evil.json': withProvider('local', { file: './evil.mjs' }),
      'evil.mjs': 'export default {};',
    },
  ],
  [
    'code-process',
    'a command, from a publisher without the scope for code',
    { 'evil.json': withProvider('process', { command: ['true'] }) },
  ],
  [
    'reference-variable',
    'a variable of the host, which releases may not use',
    { 'evil.json': withBearer(`env:${CREDENTIAL_VARIABLE}`) },
  ],
  [
    'reference-file',
    'a file of the host as a secret',
    { 'evil.json': withBearer('file:/etc/passwd') },
  ],
  [
    'reference-socket',
    'a socket of the host as a provider',
    { 'evil.json': withProvider('unix', { socket: '/run/docker.sock' }) },
  ],
  [
    'reference-candidate',
    'a file of the host with the endpoints of a candidate',
    { 'evil.json': { ...PLAIN, candidate: { endpoints: { file: '/etc/passwd' } } } },
  ],
];

export const RELEASE_CASES: readonly Attack[] = [
  reject(
    'release-stranger',
    'a release of a caller without the scope',
    publish({ 'evil.json': PLAIN }, 'stranger'),
    403,
  ),
  ...FORBIDDEN.map(([name, title, files]) => reject(`release-${name}`, title, publish(files), 403)),
  reject(
    'release-file-manifest',
    'a file of the host as a manifest',
    publish({ 'evil.json': { ...PLAIN, manifest: '/etc/passwd' } }),
    400,
  ),
  ...PATHS.map(([name, path]) =>
    reject(
      `release-path-${name}`,
      `a file of a release with the path ${JSON.stringify(path)}`,
      publish({ [path]: PLAIN }),
      400,
    ),
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
    await sendOnce(scene, late, 409);
  }
  return null;
}
