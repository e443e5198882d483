import cluster from 'node:cluster';
import type { Command } from 'commander';
import type { ComposedHost } from '../../compose.js';
import { warnOfOpenPermissions } from '../../config/check-permissions.js';
import { followsReleases } from '../../config/modules-folder.js';
import type { ReadConfig } from '../../config/read-config.js';
import { requireCreatable, requireFolder } from '../../config/require-folder.js';
import type { HostConfig } from '../../config/settings.js';
import { SETTING_NAMES } from '../../config/settings.js';
import { warnOfVariables } from '../../config/unknown-variables.js';
import { ConfigError } from '../../errors.js';
import { describeListenError } from '../../http/server/listen.js';
import { type Logger, openLog } from '../../log/logger.js';
import { reportListening } from '../../report-listening.js';
import { findOlderStore } from '../../store/older-store.js';
import { addFormatOptions, type FormatOptions, readFormat } from '../check/format-option.js';
import { CommandError } from '../command-error.js';
import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { overrideGlobals } from '../global-overrides.js';
import {
  exitOnUncaughtError,
  handleHangUp,
  ignoreInspectorSignal,
  ignoreRestart,
  type StopSignal,
  waitForStop,
} from '../process-signals.js';
import { addSettings, readSettings } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

type ServeConfig = ReadConfig<keyof HostConfig>;

interface ServeOptions extends FormatOptions {
  readonly check?: true;
  readonly connect?: true;
}

export function define(command: Command): void {
  command
    .option('--check', 'Report what would keep the host from starting, and exit')
    .option(
      '--connect',
      'With --check, also try the store, issuers and token endpoints, and check the active release',
    );
  addFormatOptions(command);
  addSettings(command, SETTING_NAMES);
  addUselessOptions(command, { 'without --check': ['connect', 'format', 'json'] });
}

/** Serves until a SIGTERM or SIGINT, then drains. */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  if (cluster.isWorker) return serveAsWorker(context);
  const options = command.opts<ServeOptions>();
  if (options.check === true) return check(command, options, context);
  const settings = await readSettings(SETTING_NAMES, command, context);
  await requireFolders(settings);
  const { store, state } = settings.config;
  const problem = await findOlderStore(store, state);
  if (problem !== null) throw new CommandError(problem);
  const { logLevel, workers } = settings.config;
  const log = await openLog(logLevel, { isShared: workers !== null });
  warnOfVariables(context.environment, log);
  warnOfOpenPermissions(settings.config, log);
  const stopped = waitForStop(context.exit);
  prepareProcess(settings, log, context);
  const hangUp: HangUpHandler = { onHangUp: () => {} };
  handleHangUp(() => hangUp.onHangUp());
  try {
    if (workers === null) await serveAlone(settings, log, stopped, hangUp);
    else await serveWithWorkers(settings, workers, log, stopped, hangUp);
    return EXIT.ok;
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    log.fatal({ err: error }, 'host failed');
    return EXIT.failure;
  } finally {
    await log.close();
  }
}

async function check(
  command: Command,
  options: ServeOptions,
  context: CommandContext,
): Promise<ExitCode> {
  const format = readFormat(options);
  const [{ checkHost }, { summarize }, { formatReport }] = await Promise.all([
    import('../check/check-host.js'),
    import('../check/check-report.js'),
    import('./check.js'),
  ]);
  const report = await checkHost(command, context, { connects: options.connect === true });
  await context.print(formatReport(report, null, format));
  return summarize(report).errors === 0 ? EXIT.ok : EXIT.failure;
}

interface HangUpHandler {
  onHangUp: () => void;
}

/** Runs before code of modules and plugins is loaded. */
function prepareProcess({ config }: ServeConfig, log: Logger, { exit }: CommandContext): void {
  exitOnUncaughtError(log, exit);
  overrideGlobals();
  if (config.env === 'production') ignoreInspectorSignal(log);
}

async function serveAlone(
  settings: ServeConfig,
  log: Logger,
  stopped: Promise<StopSignal>,
  hangUp: HangUpHandler,
): Promise<void> {
  ignoreRestart(log);
  // Requests start only when the host listens, so that this stop requires no drain.
  const first = await Promise.race([start(settings, log), stopped]);
  if (typeof first === 'string') return;
  hangUp.onHangUp = () => first.reload();
  await drain(first, await stopped, log);
}

async function serveWithWorkers(
  settings: ServeConfig,
  count: number,
  log: Logger,
  stopped: Promise<StopSignal>,
  hangUp: HangUpHandler,
): Promise<void> {
  const { runPrimary } = await import('../../cluster/primary.js');
  const onHangUp = (listener: () => void) => {
    hangUp.onHangUp = listener;
  };
  await runPrimary(settings, count, log, { stopped, onHangUp });
}

/** Serves as one worker process of a primary, which sends the settings. */
async function serveAsWorker(context: CommandContext): Promise<ExitCode> {
  const { runWorker } = await import('../../cluster/worker.js');
  const hasSucceeded = await runWorker({
    prepare: (settings, log) => prepareProcess(settings, log, context),
  });
  return hasSucceeded ? EXIT.ok : EXIT.failure;
}

export async function start(settings: ServeConfig, log: Logger): Promise<ComposedHost> {
  const { composeHost } = await import('../../compose.js');
  const host = await composeHost(settings.config, log);
  try {
    const url = await host.listen();
    reportListening(log, settings.config, { url, surfaces: host.surfaces });
    return host;
  } catch (error) {
    await host.close();
    throw describeListenError(error, settings);
  }
}

/** Finishes the requests in flight, then closes everything. */
export async function drain(host: ComposedHost, signal: StopSignal, log: Logger): Promise<void> {
  log.info({ signal }, 'draining');
  await host.drain();
  await host.close();
  log.info({}, 'stopped');
}

/** @throws ConfigError for a folder that cannot be read, and for a state folder that cannot be created. */
export async function requireFolders({ config, sources }: ServeConfig): Promise<void> {
  await requireCreatable(config.state, sources.state);
  if (!followsReleases(config)) await requireFolder(config.modules, sources.modules);
  for (const source of config.plugins ?? []) {
    if (source.kind === 'folder') await requireFolder(source.path, sources.plugins);
  }
}
