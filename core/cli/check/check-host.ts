import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { createAuthenticators } from '../../auth/authenticators.js';
import { listCredentialHeaders } from '../../auth/credential-headers.js';
import { findIntrospectionProblem } from '../../auth/introspection.js';
import { IssuerError, requestIssuer } from '../../auth/issuer-request.js';
import { parseIssuersFile } from '../../auth/issuers-file.js';
import { Roles } from '../../auth/roles.js';
import { findConflicts } from '../../compose.js';
import { warnOfOpenPermissions } from '../../config/check-permissions.js';
import { followsReleases } from '../../config/modules-folder.js';
import { requireCreatable, requireFolder } from '../../config/require-folder.js';
import { type HostConfig, SETTING_NAMES, settingFlag } from '../../config/settings.js';
import { listEnabledSurfaces } from '../../config/surface-list.js';
import { warnOfVariables } from '../../config/unknown-variables.js';
import type { Log } from '../../contract/index.js';
import { createFileDiagnostic, type Diagnostic, InvalidFile } from '../../document/diagnostic.js';
import { readFileText } from '../../document/read-file.js';
import { ConfigError } from '../../errors.js';
import { HostPrefixes } from '../../http/surfaces/host-prefixes.js';
import { SurfaceRegistry } from '../../http/surfaces/surface-registry.js';
import { openTls } from '../../http/tls/open-tls.js';
import { readIdentityKeys } from '../../identity/identity-keys.js';
import { openPlugins } from '../../plugin-loader/open-plugins.js';
import type { PluginRegistry } from '../../plugin-loader/plugin-registry.js';
import { parseStoreKeys, STORE_KEY_VARIABLE } from '../../store/encryption-keys.js';
import { findOlderStore } from '../../store/older-store.js';
import { parsePostgresUrl } from '../../store/postgres-url.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import type { CommandContext } from '../command-module.js';
import { readSettings } from '../setting-options.js';
import { checkActiveRelease } from './check-active-release.js';
import { checkCredentials, checkExchange } from './check-credentials.js';
import { checkFiles } from './check-files.js';
import type { CheckReport } from './check-report.js';
import { checkRoles } from './check-roles.js';

/** The file name in diagnostics about settings. */
const SETTINGS_SUBJECT = 'settings';
const EMPTY: CheckReport = { isFolder: true, files: [], diagnostics: [], notes: [], ignored: [] };

type Opened = Awaited<ReturnType<typeof createAuthenticators>>;

interface CheckHostOptions {
  /** Whether the store, the issuers and the credentials of modules are tried too. */
  readonly connects: boolean;
}

/** Reports on everything that `modgate serve` would read. It neither listens nor writes. */
export async function checkHost(
  command: Command,
  context: CommandContext,
  { connects }: CheckHostOptions,
): Promise<CheckReport> {
  const findings = new Findings();
  const { attempt, log } = findings;
  // Replaces an invalid setting by its default, so that the check can continue.
  const { config } = await readSettings(SETTING_NAMES, command, context, attempt);
  warnOfVariables(context.environment, log);
  warnOfOpenPermissions(config, log);
  for (const conflict of findConflicts(config)) findings.add(conflict);
  const plugins = await openPlugins(config, settingFlag('plugins'), log, attempt);
  const { credentialHeaders, tokens } = await checkAccess(config, findings, plugins);
  // The scopes of roles of certificates are not checked here.
  await (await openTls(config, Roles.none(log), log, attempt)).close();
  await attempt(() => parseStoreKeys(context.environment[STORE_KEY_VARIABLE]));
  await attempt(() => config.store !== null && parsePostgresUrl(config.store));
  await attempt(() => requireCreatable(config.state, settingFlag('state')));
  await attempt(() => readIdentityKeys(config.state));
  if (connects || config.store === null) {
    const problem = await attempt(() => findOlderStore(config.store, config.state));
    if (problem !== null) findings.add(new ConfigError(problem));
  }
  if (connects) await tryConnections(config, context, findings);
  const modules = await attempt(async () => {
    const checkContext = {
      plugins,
      environment: context.environment,
      credentialHeaders,
      reservedPrefixes: new HostPrefixes(plugins),
      canShareRates: config.redis !== null,
      unopenedAuthenticators: [],
    };
    if (followsReleases(config)) {
      if (!connects) return createNote('the release of the store is checked with --connect');
      const checked = await checkActiveRelease(config, checkContext);
      return typeof checked === 'string' ? createNote(checked) : checked;
    }
    await requireFolder(config.modules, settingFlag('modules'));
    return checkFiles(config.modules, checkContext);
  });
  const credentials = { files: modules?.files ?? [], tokens, log };
  findings.report(checkExchange(credentials));
  if (connects) for (const problem of await checkCredentials(credentials)) findings.warn(problem);
  const report = modules ?? EMPTY;
  const roles = await attempt(() => {
    const files = modules?.isFolder === true ? modules.files : null;
    return checkRoles(config, context.environment, files);
  });
  findings.report(roles ?? []);
  return { ...report, diagnostics: [...findings.diagnostics, ...report.diagnostics] };
}

function createNote(message: string): CheckReport {
  return { ...EMPTY, isFolder: false, notes: [{ file: settingFlag('modules'), message }] };
}

/** Diagnostics by severity: an error would prevent startup, a warning would be logged. */
class Findings {
  readonly diagnostics: Diagnostic[] = [];

  readonly log: Log = {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => this.warn(describeLine(fields, message)),
    error: (fields, message) => this.warn(describeLine(fields, message)),
  };

  /** Returns `null` after an error that it reports. @throws any other error. */
  readonly attempt = async <T>(work: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      this.add(error);
      return null;
    }
  };

  /** @throws an error that is not about configuration. */
  add(error: unknown): void {
    const invalid = error instanceof ConfigError ? (error.cause ?? error) : error;
    if (invalid instanceof InvalidFile) this.report(invalid.diagnostics);
    else if (error instanceof ConfigError) this.#add('error', error.message);
    else throw error;
  }

  /** Adds each diagnostic once, even if several parts of the host read the file or the setting. */
  report(diagnostics: readonly Diagnostic[]): void {
    for (const diagnostic of diagnostics) {
      const isKnown = this.diagnostics.some((reported) => isDeepStrictEqual(reported, diagnostic));
      if (!isKnown) this.diagnostics.push(diagnostic);
    }
  }

  warn(message: string): void {
    this.#add('warning', message);
  }

  #add(severity: Diagnostic['severity'], message: string): void {
    const rule = severity === 'error' ? 'invalid-setting' : 'start-warning';
    this.report([{ ...createFileDiagnostic(SETTINGS_SUBJECT, rule, message), severity }]);
  }
}

function describeLine(fields: Readonly<Record<string, unknown>>, message: string): string {
  const details = Object.entries(fields).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    return value instanceof Error ? value.message : `${name} ${String(value)}`;
  });
  return details.length === 0 ? message : `${message} (${details.join(', ')})`;
}

/** @returns the headers that hold credentials, and the tokens that modules may exchange */
async function checkAccess(
  config: HostConfig,
  findings: Findings,
  plugins: PluginRegistry,
): Promise<Pick<Opened, 'tokens'> & { readonly credentialHeaders: readonly string[] }> {
  const { attempt, log } = findings;
  const surfaces = new SurfaceRegistry(plugins);
  const choices = listEnabledSurfaces(config.surfaces, plugins.surfaces());
  for (const { name, reason } of await surfaces.validate(choices, attempt)) {
    findings.warn(`surface '${name}' cannot be opened: ${reason}`);
  }
  const opened = await createAuthenticators(config, log, plugins, { isOffline: true, attempt });
  await opened.close();
  return { credentialHeaders: listCredentialHeaders(opened.chain), tokens: opened.tokens };
}

/** Problems are warnings, because a host starts without these connections. */
async function tryConnections(
  { store, issuers }: HostConfig,
  { environment }: CommandContext,
  findings: Findings,
): Promise<void> {
  const { attempt } = findings;
  if (store !== null) {
    const problem = await attempt(() => findStoreProblem(store));
    if (problem !== null)
      findings.warn(`the store${describePlace(store)} cannot be used: ${problem}`);
  }
  if (issuers === null) return;
  const file = await attempt(async () =>
    parseIssuersFile(issuers, await readFileText(issuers), environment),
  );
  if (file === null) return;
  for (const { issuer, jwks } of file.issuers) {
    const problem = jwks.url === undefined ? null : await findIssuerProblem(jwks.url);
    if (problem !== null) findings.warn(`issuer ${issuer} ${problem}`);
  }
  for (const config of file.introspection) {
    const problem = await findIntrospectionProblem(config, file.secret(config.client_secret));
    if (problem !== null) findings.warn(problem);
  }
}

async function findStoreProblem(url: string): Promise<string | null> {
  try {
    const { openPostgresToRead } = await import('../../store/postgres-database.js');
    await (await openPostgresToRead(parsePostgresUrl(url), 'write')).close();
    return null;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    // The first startup creates it, and an older one is an error.
    return error.code === 'missing' || error.code === 'older_schema' ? null : error.message;
  }
}

/** Without the user, and the password that the URL may contain. */
function describePlace(url: string): string {
  const { hostname, port, searchParams } = new URL(url);
  const host = searchParams.get('host') ?? hostname;
  return host === '' ? '' : ` at ${host}:${searchParams.get('port') ?? (port || 5432)}`;
}

async function findIssuerProblem(url: string): Promise<string | null> {
  try {
    await requestIssuer(url);
    return null;
  } catch (error) {
    if (error instanceof IssuerError) return error.message;
    throw error;
  }
}
