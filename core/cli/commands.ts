import { LISTED_ROUTES } from '../http/routes/host-route-list.js';
import type { CommandModule } from './command-module.js';

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<CommandModule>;
}

/** Commands in the order of the help; each is a file of `commands/`. */
const SUMMARIES: Readonly<Record<string, string>> = {
  serve: 'Serve the modules of a folder of descriptors',
  check: 'Validate descriptors and manifests',
  status: 'Show the state of each descriptor in a running host',
  calls: 'Show the last calls of a running host',
  wait: 'Wait until a running host serves a module or digest',
  publish: 'Publish a folder of descriptors as a release',
  releases: 'List releases of a running host, or pull one into a folder',
  rollback: 'Make an earlier release active again, or end a canary',
  explain: 'Explain how a host handles a request',
  openapi: 'Print the OpenAPI document of a host or of files',
  audit: 'Print or verify the audit log of writes and actions',
  'encrypt-store': 'Encrypt sensitive values that a store holds in clear text',
  digest: 'Print the digest of a manifest',
  grants: 'Compare the grants of consoles with a manifest',
  roles: 'List roles, their scopes and what each scope opens',
  selftest: 'Run known gateway attacks against a host and report the results',
  token: 'Create, list or revoke tokens of the tokens file',
  approvals: 'List, show, approve or reject calls that wait for a person',
  sessions: 'List or end sessions of the console of a running host',
  purge: 'Remove kept responses of a module from a running host',
  plugins: 'List plugins and their states, or print digests of their files',
  new: 'Create the files of a new module or plugin',
  client: 'Write a typed TypeScript client of modules',
  import: 'Import what describes a service, such as OpenAPI, as a module',
  'test-plugin': 'Run the conformance suite against a plugin',
  completion: 'Print a completion script for a shell',
};

/** The commands that print a list of a host: what the list is follows from the route. */
const LISTINGS: readonly CommandEntry[] = LISTED_ROUTES.flatMap(
  ({ name: route, command, load }) => {
    if (command === undefined) return [];
    const [name, summary] = command;
    const loadCommand = async () => {
      const { createListingCommand } = await import('./client/listing-command.js');
      return createListingCommand(route, await load());
    };
    return [{ name, summary, load: loadCommand }];
  },
);

/** Each module is imported only when it is called. */
export const COMMANDS: readonly CommandEntry[] = [
  ...Object.entries(SUMMARIES).map(([name, summary]) => ({
    name,
    summary,
    load: () => import(`./commands/${name}.js`),
  })),
  ...LISTINGS,
];
