import { hash, randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { authority, elsewhere, expired, server } from '../support/certificates.js';
import { startDnsServer } from '../support/dns/dns-server.js';
import { startExchangeServer } from '../support/exchange-server.js';
import { startHost, startHostProcess } from '../support/start-host.js';
import { BOUNDED_ARGS } from './cases/bounds.js';
import { createCandidateScripts } from './cases/candidate.js';
import { REDIRECT_TARGET } from './cases/exchange.js';
import { answerLongHead, LONG_SCRIPTS } from './cases/long-bodies.js';
import { createNamedReply } from './cases/names.js';
import { RAW_MODE_SCRIPTS } from './cases/raw-mode.js';
import { STREAM_SCRIPTS } from './cases/streams.js';
import { createModules, describeManifest, describeModule } from './modules.js';
import { WEB_SETTINGS, writePlugins } from './plugins.js';
import { ACTORS, CREDENTIAL_VARIABLE, type OwnToken, type Scene } from './scene.js';
import { startHostileBroker } from './servers/hostile-broker.js';
import { createResponseScripts } from './servers/response-scripts.js';
import { respond, startServer } from './servers/scripted-server.js';
import { createTokenIssuer, describeIssuers, ROLES_FILE } from './servers/signed-tokens.js';
import { startToolServer } from './servers/tool-server.js';
import { answerUpgrade } from './servers/websocket-scripts.js';

export interface OwnHost {
  readonly scene: Scene;
  /** The URLs of the providers, by module. */
  readonly endpoints: ReadonlyMap<string, string>;
  output(): string;
  close(): Promise<void>;
}

/** Starts a host in production, with modules, tokens and providers for the attacks. */
export async function startOwnHost(): Promise<OwnHost> {
  const secret = `selftest-secret-${randomBytes(16).toString('hex')}`;
  const credential = `selftest-credential-${randomBytes(16).toString('hex')}`;
  const names = Object.keys(ACTORS) as OwnToken[];
  const tokens = Object.fromEntries(
    names.map((name) => [name, `own-${name}-${randomBytes(16).toString('hex')}`]),
  ) as Record<OwnToken, string>;
  const issuer = createTokenIssuer();
  const directory = mkdtempSync(join(tmpdir(), 'modgate-attacks-'));
  const started: (() => Promise<unknown>)[] = [];
  const close = async () => {
    await Promise.all(started.map((stop) => stop()));
    rmSync(directory, { recursive: true, force: true });
  };
  const start = async (...options: Parameters<typeof startServer>) => {
    const provider = await startServer(...options);
    started.push(() => provider.stop());
    return provider;
  };
  const write = (name: string, content: object | string) => {
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    writeFileSync(join(directory, name), text, { mode: 0o600 });
    return join(directory, name);
  };
  try {
    const bystander = await start();
    const scripts = {
      ...{ ...createResponseScripts(bystander.url, secret), ...LONG_SCRIPTS },
      ...{ ...RAW_MODE_SCRIPTS, ...STREAM_SCRIPTS },
      '/redirect': respond(307, '', { location: bystander.url + REDIRECT_TARGET }),
    };
    const provider = await start(scripts, { onHead: answerLongHead });
    const sockets = await start({}, { onUpgrade: answerUpgrade });
    const introspection = await start({ '/introspect': respond(200, '{"active":false}') });
    const candidate = await start(createCandidateScripts(bystander.url));
    const versions = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1' } as const;
    const old = { ...server, ...versions, ciphers: 'DEFAULT@SECLEVEL=0' };
    const tls = {
      here: (await start({}, { tls: server })).url,
      elsewhere: (await start({}, { tls: elsewhere })).url,
      expired: (await start({}, { tls: expired })).url,
      old: (await start({}, { tls: old })).url,
    };
    const dns = await startDnsServer(createNamedReply(provider.url, tls.elsewhere));
    const exchange = await startExchangeServer();
    started.push(dns.close, exchange.close);
    const tokenEndpoints = [exchange.tokenUrl, `${provider.url}/redirect`] as const;
    const toolServer = await startToolServer();
    started.push(() => toolServer.stop());
    const broker = await startHostileBroker();
    started.push(() => broker.stop());
    const modules = createModules({
      ...{ provider: provider.url, sockets: sockets.url, candidate: candidate.url },
      ...{ tls, tokenEndpoints, dns: dns.address, toolServer: toolServer.url, broker: broker.port },
    });
    writePlugins(directory, bystander.url);
    write('jwks.json', issuer.jwks);
    const issuers = describeIssuers(
      `${introspection.url}/introspect`,
      tokenEndpoints,
      `env:${CREDENTIAL_VARIABLE}`,
    );
    const shared = {
      dev: false,
      env: { [CREDENTIAL_VARIABLE]: credential },
      tokens: {
        tokens: names.map((name) => ({
          ...{ id: name, kind: ACTORS[name][0], scopes: ACTORS[name].slice(1) },
          sha256: hash('sha256', tokens[name]),
          ...(name === 'expired' && { expires_at: '2020-01-01T00:00:00Z' }),
        })),
      },
    };
    const host = await startHostProcess({
      ...shared,
      files: {
        ...describeFiles(modules, provider.url),
        'authority.pem': authority,
        ...Object.fromEntries(
          ['linked', 'dotted'].map((kind) => [
            `${kind}.json`,
            {
              ...{ module: kind, provider: { kind, config: {} } },
              manifest: { inline: describeManifest(kind) },
            },
          ]),
        ),
        // The host rejects it for the password.
        'refused.json': {
          module: 'refused',
          provider: {
            kind: 'http',
            config: { endpoints: [`http://selftest:${secret}@127.0.0.1`] },
          },
        },
      },
      args: [
        ...['--config', write('modgate.yaml', WEB_SETTINGS)],
        ...['--roles', write('roles.json', ROLES_FILE), '--plugins', join(directory, 'plugins')],
        ...['--issuers', write('issuers.json', issuers)],
      ],
    });
    started.push(() => host.kill());
    const bounded = await startHost({
      ...shared,
      files: describeFiles({ shop: modules['shop'] ?? {} }, provider.url),
      args: BOUNDED_ARGS,
    });
    started.push(() => bounded.kill());
    return {
      scene: {
        address: { host: '127.0.0.1', port: host.port },
        authority: `127.0.0.1:${host.port}`,
        ...{ base: '/modules/shop/http', route: '/items', token: tokens.owner },
        secrets: [secret, credential, tokens.owner],
        ...{ mark: 'selftest', lateChecks: [] },
        ...{ provider, sockets, bystander, tokens, issuer, introspection, candidate, toolServer },
        bounded: { host: '127.0.0.1', port: bounded.port },
      },
      endpoints: new Map(
        Object.entries(modules).map(([name, { url = provider.url }]) => [name, url]),
      ),
      output: () => host.output() + bounded.output(),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

function describeFiles(modules: ReturnType<typeof createModules>, provider: string) {
  return Object.fromEntries(
    Object.entries(modules).map(([name, module]) => [
      `${name}.json`,
      describeModule(name, module, provider),
    ]),
  );
}
