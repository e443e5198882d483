import type { Command } from 'commander';
import { createAuthenticators } from '../../auth/authenticators.js';
import { listCredentialHeaders } from '../../auth/credential-headers.js';
import { IssuerError, requestIssuer } from '../../auth/issuer-request.js';
import { parseIssuersFile } from '../../auth/issuers-file.js';
import { Roles } from '../../auth/roles.js';
import { assertSettingsFit } from '../../compose.js';
import { warnOfOpenPermissions } from '../../config/check-permissions.js';
import { requireFolder } from '../../config/require-folder.js';
import { type HostConfig, SETTING_NAMES, SETTINGS, settingFlag } from '../../config/settings.js';
import { listEnabledSurfaces } from '../../config/surface-list.js';
import { findUnknownVariables } from '../../config/unknown-variables.js';
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
import { parsePostgresUrl } from '../../store/postgres-url.js';
import { StoreUnavailable } from '../../store/store-unavailable.js';
import type { CommandContext } from '../command-module.js';
import { readSettings } from '../setting-options.js';
import { checkFiles } from './check-files.js';
import type { CheckReport } from './check-report.js';
import { checkRoles } from './check-roles.js';

/** Stands for the file of findings about settings. */
const SETTINGS_SUBJECT = 'settings';
const EMPTY: CheckReport = { isFolder: true, files: [], diagnostics: [], notes: [], ignored: [] };

interface CheckHostOptions {
  /** Whether the store and the issuers are tried too. */
  readonly connects: boolean;
}

/**
 * Reads what `modgate serve` with the same settings would read, and reports all of it. Listens on nothing and
 * writes nothing.
 */
export async function checkHost(
  command: Command,
  context: CommandContext,
  { connects }: CheckHostOptions,
): Promise<CheckReport> {
  const findings = new Findings();
  const { attempt, log } = findings;
  const config = await readEverySetting(command, context, findings);
  for (const { name, hint } of findUnknownVariables(context.environment)) {
    log.warn({ variable: name, hint }, 'unknown variable');
  }
  warnOfOpenPermissions(config, log);
  await attempt(() => assertSettingsFit(config));
  const plugins = await attempt(() => openPlugins(config, settingFlag('plugins'), log));
  const access = plugins === null ? null : await checkAccess(config, findings, plugins);
  const credentialHeaders = access ?? [];
  const tls = await attempt(() => checkTls(config, log));
  await attempt(() => parseStoreKeys(context.environment[STORE_KEY_VARIABLE]));
  await attempt(() => config.store !== null && parsePostgresUrl(config.store));
  await attempt(() => readIdentityKeys(config.state));
  if (connects) await tryConnections(config, context, findings);
  const modules = await attempt(async () => {
    await requireFolder(config.modules, settingFlag('modules'));
    if (plugins === null) return EMPTY;
    return checkFiles(config.modules, {
      plugins,
      environment: context.environment,
      credentialHeaders,
      reservedPrefixes: new HostPrefixes(plugins),
      unopenedAuthenticators: [],
    });
  });
  const report = modules ?? EMPTY;
  // Files that cannot be used are reported already.
  if (access !== null && tls !== null) {
    findings.add(await checkRoles(config, context.environment, modules?.files ?? null));
  }
  return { ...report, diagnostics: [...findings.diagnostics, ...report.diagnostics] };
}

/** What would end a start is an error, what it would log as a warning a warning. */
class Findings {
  readonly diagnostics: Diagnostic[] = [];

  readonly log: Log = {
    debug: () => {},
    info: () => {},
    warn: (fields, message) => this.warn(describeLine(fields, message)),
    error: (fields, message) => this.warn(describeLine(fields, message)),
  };

  /** @returns `null` for what cannot be used. @throws any error that is no finding. */
  readonly attempt = async <T>(work: () => T | Promise<T>): Promise<T | null> => {
    try {
      return await work();
    } catch (error) {
      const invalid = error instanceof ConfigError ? (error.cause ?? error) : error;
      if (invalid instanceof InvalidFile) this.diagnostics.push(...invalid.diagnostics);
      else if (error instanceof ConfigError) this.#add('error', error.message);
      else throw error;
      return null;
    }
  };

  add(diagnostics: readonly Diagnostic[]): void {
    this.diagnostics.push(...diagnostics);
  }

  warn(message: string): void {
    this.#add('warning', message);
  }

  #add(severity: Diagnostic['severity'], message: string): void {
    const rule = severity === 'error' ? 'invalid-setting' : 'start-warning';
    const known = this.diagnostics.some((one) => one.message === message);
    if (known) return;
    this.diagnostics.push({ ...createFileDiagnostic(SETTINGS_SUBJECT, rule, message), severity });
  }
}

function describeLine(fields: Readonly<Record<string, unknown>>, message: string): string {
  const details = Object.entries(fields).flatMap(([name, value]) => {
    if (value === null || value === undefined) return [];
    return value instanceof Error ? value.message : `${name} ${String(value)}`;
  });
  return details.length === 0 ? message : `${message} (${details.join(', ')})`;
}

/** An invalid setting has its default in what follows. */
async function readEverySetting(
  command: Command,
  context: CommandContext,
  { attempt }: Findings,
): Promise<HostConfig> {
  const values: Record<string, unknown> = {};
  for (const name of SETTING_NAMES) {
    const read = await attempt(() => readSettings([name], command, context));
    const { kind, default: text } = SETTINGS[name];
    values[name] = read?.config[name] ?? (text === null ? null : (kind.parse(text, '.') ?? null));
  }
  return values as unknown as HostConfig;
}

/** @returns the headers that hold credentials; `null` where the authenticators cannot be opened */
async function checkAccess(
  config: HostConfig,
  findings: Findings,
  plugins: PluginRegistry,
): Promise<readonly string[] | null> {
  const { attempt, log } = findings;
  const surfaces = new SurfaceRegistry(plugins);
  const choices = listEnabledSurfaces(config.surfaces, plugins.surfaces());
  const failed = await attempt(() => surfaces.validate(choices));
  for (const { name, reason } of failed ?? [])
    findings.warn(`surface '${name}' cannot be opened: ${reason}`);
  const opened = await attempt(() => {
    return createAuthenticators(config, log, plugins, { isOffline: true });
  });
  if (opened === null) return null;
  await opened.close();
  return listCredentialHeaders(opened.chain);
}

async function checkTls(config: HostConfig, log: Log): Promise<true> {
  // Which scopes the roles of certificates give is not checked here.
  await (await openTls(config, Roles.none(log), log)).close();
  return true;
}

/** A host starts without them. */
async function tryConnections(
  { store, issuers }: HostConfig,
  { environment }: CommandContext,
  findings: Findings,
): Promise<void> {
  const { attempt } = findings;
  if (store !== null) {
    const problem = await attempt(() => findStoreProblem(store));
    if (problem !== null) findings.warn(`the store cannot be used: ${problem}`);
  }
  if (issuers === null) return;
  const file = await attempt(async () =>
    parseIssuersFile(issuers, await readFileText(issuers), environment),
  );
  for (const { issuer, jwks } of file?.issuers ?? []) {
    const problem = jwks.url === undefined ? null : await findIssuerProblem(jwks.url);
    if (problem !== null) findings.warn(`issuer ${issuer} ${problem}`);
  }
}

async function findStoreProblem(url: string): Promise<string | null> {
  try {
    const { openPostgresToRead } = await import('../../store/postgres-database.js');
    await (await openPostgresToRead(parsePostgresUrl(url))).close();
    return null;
  } catch (error) {
    if (!(error instanceof StoreUnavailable)) throw error;
    // The first start creates it.
    return error.code === 'missing' ? null : error.message;
  }
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
