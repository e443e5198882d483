import type { Command } from 'commander';
import type { Infer } from 'superstruct';
import { isEndpointDown } from '../../contract/module-status.js';
import type { Listing } from '../../operations/listing.js';
import { MODULES } from '../../operations/status/list-modules.js';
import type { ListedModule, moduleList } from '../../operations/status/module-struct.js';
import { addHostOptions } from '../client/host-options.js';
import { printListing } from '../client/listing-command.js';

import { type CommandContext, EXIT, type ExitCode } from '../command-module.js';
import { addJsonOption } from '../setting-options.js';
import { addUselessOptions } from '../useless-options.js';

export function define(command: Command): void {
  addHostOptions(command);
  command.option('--modules-only', 'Omit failing endpoints and ignored files');
  command.option(
    '--unhealthy',
    'List only modules that are not live, or have an endpoint down or a problem',
  );
  addJsonOption(command, "the host's response to GET /modules");
  addUselessOptions(command, { 'with --json': ['modulesOnly', 'unhealthy'] });
}

/**
 * Prints the state of each descriptor in a running host. Exits with 0 for every state, and with
 * `--unhealthy` with 1 if a module is listed.
 */
export async function run(command: Command, context: CommandContext): Promise<ExitCode> {
  const { modulesOnly = false, unhealthy = false } = command.opts<StatusOptions>();
  let isHealthy = true;
  const listing: Listing<ModuleList, ListedModule> = {
    ...(MODULES.listing as Listing<ModuleList, ListedModule>),
    linesOf: (module) => formatReason(module, modulesOnly),
    linesAfter: ({ modules, ignored }) => [
      '',
      formatSummary(modules),
      ...(modulesOnly ? [] : ignored.map(({ file, reason }) => `ignored: ${file} (${reason})`)),
    ],
  };
  if (unhealthy) {
    listing.select = (module) => {
      if (isUnhealthy(module)) isHealthy = false;
      return isUnhealthy(module);
    };
  }
  const resource = { ...MODULES, listing: listing as Listing };
  const code = await printListing(command, context, 'GET /modules', resource);
  return isHealthy ? code : EXIT.failure;
}

interface StatusOptions {
  readonly modulesOnly?: true;
  readonly unhealthy?: true;
}

/** A disabled module is meant not to serve. */
function isUnhealthy(module: ListedModule): boolean {
  return (
    !['live', 'disabled'].includes(module.state) || hasEndpointDown(module) || hasProblem(module)
  );
}

function hasProblem({ facts = [] }: ListedModule): boolean {
  return facts.some(({ problem }) => problem === true);
}

function hasEndpointDown({ endpoints = [] }: ListedModule): boolean {
  return endpoints.some(isEndpointDown);
}

type ModuleList = Infer<typeof moduleList>;
type EndpointEntry = NonNullable<ListedModule['endpoints']>[number];

function formatReason(
  { file, reason, hint, endpoints, counts, resolve_error = null, facts = [] }: ListedModule,
  modulesOnly: boolean,
) {
  const lines: string[] = [];
  const { streams = 0 } = counts;
  if (streams > 0) lines.push(`  open streams: ${streams}`);
  if (reason !== null) lines.push(`  ${file}: ${reason}`);
  if (hint !== null) lines.push(`  hint: ${hint}`);
  if (modulesOnly) return lines;
  if (resolve_error !== null) lines.push(`  endpoints: ${resolve_error}`);
  const ofProvider = facts.map(({ name, value, problem = false }) => {
    return `  ${problem ? 'problem: ' : ''}${name}: ${value}`;
  });
  return [...lines, ...ofProvider, ...(endpoints ?? []).flatMap(formatEndpoint)];
}

/** Formats the endpoint unless it is up, and its routes whose circuit breaker is not closed. */
function formatEndpoint(entry: EndpointEntry): string[] {
  const { endpoint, state, until, routes } = entry;
  const ofEndpoint = `  endpoint ${endpoint} is ${formatBreaker(state, until)}`;
  const ofRoutes = (routes ?? []).map(
    (breaker) =>
      `  route ${breaker.route} at ${endpoint} is ${formatBreaker(breaker.state, breaker.until)}`,
  );
  return isEndpointDown(entry) ? [ofEndpoint, ...ofRoutes] : ofRoutes;
}

function formatBreaker(state: string, until: string | null | undefined): string {
  return until == null ? state : `${state} until ${until}`;
}

/** `3 modules: 2 live, 1 refused, 1 with an endpoint down` */
function formatSummary(modules: readonly ListedModule[]): string {
  const total = `${modules.length} module${modules.length === 1 ? '' : 's'}`;
  const counts = new Map<string, number>();
  for (const { state } of modules) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = [...counts].map(([state, count]) => `${count} ${state}`);
  const down = modules.filter(hasEndpointDown).length;
  if (down > 0) parts.push(`${down} with an endpoint down`);
  const problems = modules.filter(hasProblem).length;
  if (problems > 0) parts.push(`${problems} with a problem`);
  return parts.length === 0 ? total : `${total}: ${parts.join(', ')}`;
}
