import { type Attack, reject, type Verdict } from '../attack.js';
import { craftRequest, expectForwarded, sendOnce } from '../expectations.js';
import { DESK_CONSOLE } from '../modules.js';
import type { OwnToken, Scene } from '../scene.js';

const { release, ui } = DESK_CONSOLE;

/** The differences from a granted call. */
interface BridgeChange {
  readonly module?: string;
  readonly method?: string;
  /** Default `admin`; `null` for none. */
  readonly token?: OwnToken | null;
  readonly permission?: string;
  readonly bodyPermission?: string;
  readonly release?: unknown;
  readonly ui?: unknown;
  readonly operation?: string;
  readonly more?: object;
  readonly rawPayload?: string;
}

type Row = readonly [name: string, title: string, change: BridgeChange];

const OTHER_DIGEST = `sha256:${'0'.repeat(64)}`;
const DEEP = `${'['.repeat(5_000)}${']'.repeat(5_000)}`;

const GRANTS: readonly Row[] = [
  ['release', 'a release that is not granted', { release: OTHER_DIGEST }],
  ['ui', 'a UI artifact that is not granted', { ui: OTHER_DIGEST }],
  ['swapped', 'the digests in place of each other', { release: ui, ui: release }],
  ['module', 'the grant of one module used on another', { module: 'shop' }],
  ['permission', 'a permission that is not granted', { permission: 'desk.other' }],
  ['permission-case', 'a permission in another case', { permission: 'DESK.CONFIG' }],
  ['permission-dot', 'a permission with a dot at its end', { permission: 'desk.config.' }],
  ['path', 'different permissions in the body and the path', { bodyPermission: 'desk.other' }],
];

const DIGESTS: readonly Row[] = [
  ['digest-case', 'a digest in upper case', { ui: `sha256:${'A'.repeat(64)}` }],
  ['digest-proto', 'the digest __proto__', { ui: '__proto__' }],
  ['digest-prefix', 'a digest without its algorithm', { ui: ui.slice(7) }],
  ['digest-algorithm', 'the digest of another algorithm', { ui: ui.replace('256', '1') }],
  ['digest-space', 'a digest with a space', { ui: `${ui} ` }],
  ['digest-short', 'a digest without its last digit', { ui: ui.slice(0, -1) }],
  ['digest-list', 'a list of digests', { ui: [ui, OTHER_DIGEST] }],
  ['digest-null', 'no digest', { release: null }],
];

const PAYLOADS: readonly Row[] = [
  ['unknown-field', 'an unknown member', { more: { admin: true } }],
  ['actor-field', 'a member that names the actor', { more: { actor: 'system:root' } }],
  ['operation', 'the operation __proto__', { operation: '__proto__' }],
  ['action', 'an action that is not declared', { rawPayload: invoke('drop', '{}') }],
  [
    'repeated',
    'two members of one name in an input',
    { rawPayload: invoke('sync', '{"a":1,"a":2}') },
  ],
  [
    'repeated-deep',
    'two members of one name deep in an input',
    { rawPayload: invoke('sync', '[{"a":{"b":1,"\\u0062":2}}]') },
  ],
  ['deep', 'a bridge request nested 5,000 levels deep', { rawPayload: resolve('a', DEEP) }],
  [
    'repeated-context',
    'a context that 100 inputs of a response repeat',
    { rawPayload: resolve('selftest', `{"text":"${'a'.repeat(60_000)}"}`) },
  ],
];

/** Granted permissions that the manifest declares for something else. */
const CONFIGURATION: readonly Row[] = [
  [
    'config-reader',
    'a secret written by the permission that reads the configuration',
    { permission: 'desk.values', rawPayload: writeSecret() },
  ],
  [
    'config-route-read',
    'the configuration read by the capability of a route',
    { permission: 'shop.use' },
  ],
  [
    'config-route-write',
    'a secret written by the capability of a route',
    { permission: 'shop.use', rawPayload: writeSecret() },
  ],
  [
    'config-action-write',
    'a secret written by the capability of an action',
    { permission: 'desk.sync', rawPayload: writeSecret() },
  ],
];

const CALLERS: readonly Row[] = [
  ['anonymous', 'no credentials', { token: null }],
  ['expired', 'an expired token', { token: 'expired' }],
  ['user', 'a user without console.admin', { token: 'user' }],
  ['service', 'a service without the capability', { token: 'owner' }],
  ['wildcard', 'scopes that look like patterns', { token: 'wildcard' }],
  ['get', 'a GET', { method: 'GET' }],
];

export const BRIDGE_CASES: readonly Attack[] = [
  {
    id: 'cross-module-granted',
    title: 'a call that is granted',
    attack: (scene) => {
      const rawPayload = invoke('sync', '{"a":{"b":1},"c":{"b":1}}');
      return expectForwarded(scene, craftBridge(scene, { rawPayload }), () => null);
    },
  },
  {
    id: 'cross-module-config-granted',
    title: 'the configuration, by its own capabilities',
    attack: async (scene): Promise<Verdict> => {
      await sendOnce(scene, craftBridge(scene, { permission: 'desk.values' }), 200);
      await sendOnce(
        scene,
        craftBridge(scene, { permission: 'desk.config', rawPayload: writeSecret() }),
        200,
      );
      return null;
    },
  },
  ...[...GRANTS, ...DIGESTS, ...PAYLOADS, ...CONFIGURATION, ...CALLERS].map(
    ([name, title, change]) => {
      const send = (scene: Scene) => craftBridge(scene, change);
      return reject(`cross-module-${name}`, title, send, [400, 401, 403, 404]);
    },
  ),
];

function writeSecret(): string {
  return '{"operation":"config_write","service":"desk","key":"secret","value":"attacked"}';
}

function invoke(action: string, input: string): string {
  return `{"operation":"admin_action_invoke","action":"${action}","input":${input}}`;
}

function resolve(target: string, context: string): string {
  return `{"operation":"contributions_resolve","target":"${target}","context":${context}}`;
}

function craftBridge(scene: Scene, change: BridgeChange): Buffer {
  const { token = 'admin', module = 'desk', method = 'POST' } = change;
  const permission = change.permission ?? (change.rawPayload ? 'desk.sync' : 'desk.config');
  const payload =
    change.rawPayload ?? JSON.stringify({ operation: change.operation ?? 'config_values' });
  const body = JSON.stringify({
    moduleReleaseDigest: change.release === undefined ? release : change.release,
    uiArtifactDigest: change.ui ?? ui,
    permission: change.bodyPermission ?? permission,
    payload: 0,
    ...change.more,
  }).replace('"payload":0', () => `"payload":${payload}`);
  return craftRequest(scene, {
    target: `/modules/${module}/http/console-bridge/${permission}`,
    ...{ method, token: token === null ? null : scene.tokens[token], body },
  });
}
