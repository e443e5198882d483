import {
  CAPABILITY,
  CONFIG_CAPABILITY,
  DIGEST,
  MODULES,
  type ModuleName,
  RELIABLE,
  SLOW_PATH,
  UNGRANTED,
} from './soak-module.js';

/** One request of the load and its expected response. */
export interface SoakCall {
  readonly kind: string;
  readonly module: ModuleName;
  readonly method: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly token: string | null;
  readonly body?: string;
  /** The status without a fault. */
  readonly status: number;
  /** The client disconnects once the provider has received the request. */
  readonly isAborted?: boolean;
  /** Whether `modgate_requests_total` excludes it. */
  readonly isBridge?: boolean;
}

const GOOD = `dev-service:soak:${CAPABILITY},${CONFIG_CAPABILITY},${UNGRANTED}`;
const ALL = Object.values(MODULES);
const HAS_SLOW = ALL.filter((name) => name !== MODULES.local && name !== MODULES.transient);

type Kind = Omit<SoakCall, 'module' | 'token'> & {
  readonly modules: readonly ModuleName[];
  readonly token?: string | null;
  /** Its relative frequency. */
  readonly share: number;
};

const KINDS: readonly Kind[] = [
  { kind: 'get', share: 30, modules: ALL, method: 'GET', path: '/items/7', status: 200 },
  {
    kind: 'post',
    share: 15,
    modules: ALL,
    method: 'POST',
    path: '/items',
    body: '{"a":1}',
    status: 200,
  },
  { kind: 'delete', share: 8, modules: ALL, method: 'DELETE', path: '/items/7', status: 200 },
  {
    kind: 'abort',
    share: 2,
    modules: HAS_SLOW,
    method: 'GET',
    path: SLOW_PATH,
    status: 200,
    isAborted: true,
  },
  {
    kind: 'no token',
    share: 2,
    modules: ALL,
    method: 'GET',
    path: '/items/7',
    token: null,
    status: 401,
  },
  {
    kind: 'bad token',
    share: 2,
    modules: ALL,
    method: 'POST',
    path: '/items',
    body: '{}',
    token: 'unknown',
    status: 401,
  },
  {
    kind: 'no scope',
    share: 2,
    modules: RELIABLE,
    method: 'GET',
    path: '/items/7',
    token: 'dev-service:soak',
    status: 403,
  },
  { kind: 'no route', share: 2, modules: ALL, method: 'GET', path: '/nowhere', status: 404 },
  {
    kind: 'bad body',
    share: 2,
    modules: RELIABLE,
    method: 'POST',
    path: '/items',
    body: '{"a":',
    status: 400,
  },
  bridge('list', { operation: 'admin_data_list', entity: 'items' }, CAPABILITY, 200),
  bridge('config read', { operation: 'config_values' }, CONFIG_CAPABILITY, 200),
  bridge(
    'config write',
    { operation: 'config_write', service: 'soak', key: 'size', value: 2 },
    CONFIG_CAPABILITY,
    200,
  ),
  bridge('no grant', { operation: 'config_values' }, UNGRANTED, 403),
];

function bridge(name: string, payload: object, permission: string, status: number): Kind {
  return {
    kind: `bridge ${name}`,
    share: 1,
    modules: [MODULES.calm],
    method: 'POST',
    path: `/console-bridge/${permission}`,
    body: JSON.stringify({
      moduleReleaseDigest: DIGEST,
      uiArtifactDigest: DIGEST,
      permission,
      payload,
    }),
    status,
    isBridge: true,
  };
}

/** Each kind in proportion to its share. */
const LOTS = KINDS.flatMap((kind) => Array.from({ length: kind.share }, () => kind));

export function pickCall(): SoakCall {
  const kind = LOTS[Math.floor(Math.random() * LOTS.length)] as Kind;
  const { modules, share: _share, token = GOOD, ...call } = kind;
  const module = modules[Math.floor(Math.random() * modules.length)] as ModuleName;
  return { ...call, module, token };
}
