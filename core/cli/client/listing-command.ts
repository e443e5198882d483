import type { Command } from 'commander';
import { ConfigError } from '../../errors.js';
import type { AnyListing } from '../../operations/listing.js';
import type { Parameter, Parameters } from '../../operations/query.js';
import type { Resource } from '../../operations/resource.js';
import type { CommandContext, RunnableCommand } from '../command-module.js';
import { formatListing } from '../output/listing.js';
import { parseSince } from '../parse-duration.js';
import { addJsonOption } from '../setting-options.js';
import type { HostClient } from './host-client.js';
import { addHostOptions, openHostClient } from './host-options.js';
import { printResource } from './print-resource.js';

interface ListedResource extends Pick<Resource, 'query'> {
  readonly listing: AnyListing | null;
}

/**
 * Creates the command that prints a list of the host. Required parameters are arguments.
 * @param route such as `GET /fleet`
 * @param fixed parameters without an option
 */
export function createListingCommand(
  route: string,
  resource: ListedResource,
  fixed: Readonly<Record<string, string>> = {},
): RunnableCommand {
  const { query, listing } = resource;
  if (listing === null) throw new Error(`${route} is not a list`);
  return {
    define: (command) => {
      for (const [name, { isRequired, help = '' }] of Object.entries(query)) {
        if (isRequired) command.argument(`<${name}>`, help);
      }
      addHostOptions(command);
      addFilters(command, query);
      addJsonOption(command, `the host's response to ${route}`);
      if (listing.help !== undefined) command.addHelpText('after', `\n${listing.help}`);
    },
    run: (command, context) => printListing(command, context, route, resource, fixed),
  };
}

/** Adds an option for each parameter that has help. */
export function addFilters(command: Command, query: Parameters): void {
  for (const [name, { isRequired, help, placeholder = name }] of Object.entries(query)) {
    if (isRequired || help === undefined) continue;
    command.option(`${flagOf(name)} <${placeholder}>`, help);
  }
}

/**
 * Prints the list that the options and arguments of the command select.
 * @param fixed parameters without an option
 */
export function printListing(
  command: Command,
  context: CommandContext,
  route: string,
  { query, listing }: ListedResource,
  fixed: Readonly<Record<string, string>> = {},
) {
  const client = openHostClient(command, context);
  const filters = new URLSearchParams({
    ...fixed,
    ...readFilters(command, query, client),
  }).toString();
  const [, path = ''] = route.split(' ');
  const shown = listing as AnyListing;
  const format = (page: unknown) => formatListing(shown, page, Date.now() + client.clockSkewMs);
  const target = filters === '' ? path : `${path}?${filters}`;
  return printResource(command, context, target, shown.struct, format, client);
}

/**
 * Reads the parameters from options and arguments.
 * @param client whose clock counts for an age
 * @throws ConfigError for an invalid value.
 */
export function readFilters(
  command: Command,
  query: Parameters,
  client: HostClient,
): Record<string, string> {
  const values = command.opts<Readonly<Record<string, string>>>();
  const args = [...command.args];
  const filters: Record<string, string> = {};
  for (const [name, parameter] of Object.entries(query)) {
    const { isRequired, help } = parameter;
    const option = name.replace(/_(\w)/g, (_match, letter: string) => letter.toUpperCase());
    const text = isRequired ? args.shift() : help === undefined ? undefined : values[option];
    if (text === undefined) continue;
    filters[name] = parseFilter(
      isRequired ? `argument '${name}'` : flagOf(name),
      text,
      parameter,
      client,
    );
  }
  return filters;
}

function parseFilter(
  source: string,
  text: string,
  { expected, parse, isTime }: Parameter,
  { clockSkewMs }: HostClient,
): string {
  if (isTime) return parseSince(text)(Date.now() + clockSkewMs).toISOString();
  if (parse(text) === null) throw new ConfigError(`${source} must be ${expected}`);
  return text;
}

function flagOf(name: string): string {
  return `--${name.replaceAll('_', '-')}`;
}
