import type { ChildProcess } from 'node:child_process';
import { hash, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TOOLS_MODULE } from './cases/agents.js';
import { BOUNDED_ARGS } from './cases/bodies/bounds.js';
import { CACHING_MODULE } from './cases/cache.js';
import { COPIED_MODULES, createCandidateScripts } from './cases/candidate.js';
import { PUBLIC_MODULE } from './cases/guard.js';
import { MOUNTED_MODULE, SHADOWING_MODULE } from './cases/mounts.js';
import { createNamedReply, NAMED_MODULES } from './cases/names.js';
import { ECHOING_MODULE } from './cases/provider.js';
import { elsewhere, expired, here } from './certificates.js';
import { startDnsServer } from './dns-server.js';
import {
  createExchangeScripts,
  EXCHANGING_MODULE,
  REDIRECTED_MODULE,
  tokenEndpointsOf,
} from './exchange-server.js';
import { createLongScripts, LONG_HEAD_SCRIPTS, LONG_MODULE } from './long-body-scripts.js';
import {
  CREDENTIAL_VARIABLE,
  DESK_CONSOLE,
  describeManifest,
  writeModules,
  writePlugins,
} from './own-modules.js';
import { createRawModeScripts, RAW_BASE } from './raw-mode-scripts.js';
import { type RecordingProvider, startRecordingProvider } from './recording-provider.js';
import { createResponseScripts } from './response-scripts.js';
import { OWN_TOKENS, type OwnToken, type Scene } from './scene.js';
import { startSignInIssuer } from './sign-in-issuer.js';
import { createTokenIssuer, describeIssuers, ROLES_FILE } from './signed-tokens.js';
import { type SpawnedHost, spawnHost } from './spawn-host.js';
import { createStreamScripts, SLOW_STREAM_MODULE, STREAM_MODULE } from './stream-scripts.js';
import { USERS_MODULE, WEB_CONFIG_FILE, writeWebAccess } from './web-access.js';
import { createUpgradeScripts, SLOW_SOCKET_MODULE, SOCKET_MODULE } from './websocket-scripts.js';

const SCOPES: Readonly<
  Record<OwnToken, { readonly kind: string; readonly scopes: readonly string[] }>
> = {
  owner: {
    kind: 'service',
    scopes: [
      'shop.use',
      'modgate.modules.read',
      'modgate.calls.read',
      'modgate.metrics.read',
      'modgate.candidate.read',
    ],
  },
  stranger: { kind: 'service', scopes: [] },
  wildcard: { kind: 'service', scopes: ['*', 'shop.*', 'shop', 'SHOP.USE', 'shop.use.more'] },
  user: { kind: 'user', scopes: ['shop.use'] },
  admin: { kind: 'user', scopes: ['console.admin'] },
  explainer: { kind: 'service', scopes: ['modgate.explain'] },
  approver: { kind: 'user', scopes: ['shop.use', 'modgate.approvals'] },
  publisher: { kind: 'service', scopes: ['modgate.releases'] },
  expired: { kind: 'service', scopes: ['shop.use'] },
};

/** Modules of the provider that records all requests. */
const ORDINARY_MODULES = [
  ...['shop', 'desk', 'fragile', 'paths', 'fenced'],
  ...[MOUNTED_MODULE, SHADOWING_MODULE, CACHING_MODULE, ECHOING_MODULE, ...COPIED_MODULES],
  ...[PUBLIC_MODULE, TOOLS_MODULE, STREAM_MODULE, SLOW_STREAM_MODULE, LONG_MODULE],
];

export interface OwnHost {
  readonly scene: Scene;
  /** The URLs of the providers, by module. */
  readonly endpoints: Readonly<Record<string, string>>;
  output(): string;
  close(): Promise<void>;
}

/**
 * Starts a host in production, with its own modules in a temporary folder.
 * @throws Error with its output if it does not listen within 60 s.
 */
export async function startOwnHost(): Promise<OwnHost> {
  const secret = `selftest-secret-${randomBytes(16).toString('hex')}`;
  const credential = `selftest-credential-${randomBytes(16).toString('hex')}`;
  const tokens = createTokens();
  const issuer = createTokenIssuer();
  const directory = mkdtempSync(join(tmpdir(), 'modgate-selftest-'));
  const providers: Pick<RecordingProvider, 'close'>[] = [];
  const start = async (...options: Parameters<typeof startRecordingProvider>) => {
    const provider = await startRecordingProvider(...options);
    providers.push(provider);
    return provider;
  };
  const children: ChildProcess[] = [];
  const close = async () => {
    for (const child of children) child.kill('SIGKILL');
    await Promise.all(providers.map((provider) => provider.close()));
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    const bystander = await start();
    const scripts = [
      ...createResponseScripts(bystander.url, secret),
      ...createRawModeScripts(),
      ...createStreamScripts(),
      ...createLongScripts(),
    ];
    const provider = await start(new Map(scripts), null, LONG_HEAD_SCRIPTS);
    const sockets = await start(undefined, null, undefined, createUpgradeScripts());
    const trustedName = await start(undefined, here);
    const introspection = await start(
      new Map([['/introspect', (_, response) => void response.end('{"active":false}')]]),
    );
    const otherName = await start(undefined, elsewhere);
    const namedUrls = Object.fromEntries(
      Object.entries(NAMED_MODULES).map(([module, { isTls = false }]) => [
        module,
        isTls ? otherName.url : provider.url,
      ]),
    );
    const dns = await startDnsServer(createNamedReply(namedUrls));
    providers.push(dns);
    const exchange = await start(createExchangeScripts(bystander.url));
    const candidate = await start(createCandidateScripts(bystander.url));
    const endpoints = {
      ...namedUrls,
      [EXCHANGING_MODULE]: exchange.url,
      [REDIRECTED_MODULE]: exchange.url,
      ...Object.fromEntries(ORDINARY_MODULES.map((module) => [module, provider.url])),
      [SOCKET_MODULE]: sockets.url,
      [SLOW_SOCKET_MODULE]: sockets.url,
      raw: provider.url + RAW_BASE,
      // The port of the discard protocol, where nothing listens.
      down: 'http://127.0.0.1:9',
      'tls-good': trustedName.url,
      'tls-unknown': trustedName.url,
      'tls-pin': trustedName.url,
      'tls-elsewhere': otherName.url,
      'tls-expired': (await start(undefined, expired)).url,
      'tls-old': (
        await start(undefined, {
          ...here,
          minVersion: 'TLSv1',
          maxVersion: 'TLSv1.1',
          ciphers: 'DEFAULT@SECLEVEL=0',
        })
      ).url,
    };
    const signIn = await startSignInIssuer(issuer, start);
    const bounded = join(directory, 'bounded');
    mkdirSync(bounded);
    writeModules(directory, endpoints, secret, { dns: dns.address, candidate: candidate.url });
    writeModules(bounded, { shop: provider.url }, secret);
    writePlugins(directory, bystander.url);
    writeWebAccess(directory, describeManifest(USERS_MODULE), provider.url, signIn.settings);
    const issuers = describeIssuers(
      `${introspection.url}/introspect`,
      [signIn.issuer, signIn.slowIssuer],
      tokenEndpointsOf(exchange),
    );
    writeFileSync(join(directory, 'tokens.json'), JSON.stringify(describeTokens(tokens)));
    writeFileSync(join(directory, 'issuers.json'), JSON.stringify(issuers));
    writeFileSync(join(directory, 'roles.json'), JSON.stringify(ROLES_FILE));
    writeFileSync(join(directory, 'client.secret'), credential, { mode: 0o600 });
    writeFileSync(join(directory, 'jwks.json'), JSON.stringify(issuer.jwks));
    const variables = { [CREDENTIAL_VARIABLE]: credential };
    const spawned = [
      spawnHost([...locate(directory, directory), ...listFiles(directory)], variables),
      spawnHost([...locate(directory, bounded), ...BOUNDED_ARGS], variables),
    ] as const;
    children.push(...spawned.map(({ child }) => child));
    const [address, boundedAddress] = await Promise.all([
      spawned[0].listening,
      spawned[1].listening,
    ]);
    return {
      scene: {
        address,
        authority: `${address.host}:${address.port}`,
        base: '/modules/shop/http',
        route: '/items',
        token: tokens.owner,
        mark: 'selftest',
        lateChecks: [],
        own: {
          provider,
          sockets,
          bystander,
          tokens,
          issuer,
          introspection,
          exchange,
          candidate,
          signIn,
          bounded: boundedAddress,
          secrets: [secret, credential],
          console: DESK_CONSOLE,
        },
      },
      endpoints,
      output: () => spawned.map((host: SpawnedHost) => host.output()).join(''),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/** The flags for the folder of a host, and the tokens file. */
function locate(directory: string, folder: string): string[] {
  return [
    ...['--modules', join(folder, 'modules.d'), '--state', join(folder, 'state')],
    ...['--tokens', join(directory, 'tokens.json')],
  ];
}

function listFiles(directory: string): string[] {
  return [
    ...['--config', join(directory, WEB_CONFIG_FILE), '--roles', join(directory, 'roles.json')],
    ...['--issuers', join(directory, 'issuers.json'), '--plugins', join(directory, 'plugins')],
  ];
}

function createTokens(): Record<OwnToken, string> {
  const entries = OWN_TOKENS.map((name) => [
    name,
    `own-${name}-${randomBytes(16).toString('hex')}`,
  ]);
  return Object.fromEntries(entries) as Record<OwnToken, string>;
}

function describeTokens(tokens: Readonly<Record<OwnToken, string>>) {
  return {
    tokens: OWN_TOKENS.map((name) => ({
      id: name,
      ...SCOPES[name],
      sha256: hash('sha256', tokens[name]),
      ...(name === 'expired' && { expires_at: '2020-01-01T00:00:00Z' }),
    })),
  };
}
