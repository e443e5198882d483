import type { CommandModule } from './command-module.js';

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<CommandModule>;
}

/** All commands in the order of the help. Each module is imported only when it is called. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'Serve the modules of a folder of descriptors',
    load: () => import('./commands/serve.js'),
  },
  {
    name: 'check',
    summary: 'Validate descriptors and manifests',
    load: () => import('./commands/check.js'),
  },
  {
    name: 'status',
    summary: 'Show the state of each descriptor in a running host',
    load: () => import('./commands/status.js'),
  },
  {
    name: 'calls',
    summary: 'Show the last calls of a running host',
    load: () => import('./commands/calls.js'),
  },
  {
    name: 'wait',
    summary: 'Wait until a running host serves a module or digest',
    load: () => import('./commands/wait.js'),
  },
  {
    name: 'explain',
    summary: 'Explain how a host handles a request',
    load: () => import('./commands/explain.js'),
  },
  {
    name: 'openapi',
    summary: 'Print the OpenAPI document of a host or of files',
    load: () => import('./commands/openapi.js'),
  },
  {
    name: 'audit',
    summary: 'Print or verify the audit log of writes and actions',
    load: () => import('./commands/audit.js'),
  },
  {
    name: 'encrypt-store',
    summary: 'Encrypt sensitive values that a store holds in clear text',
    load: () => import('./commands/encrypt-store.js'),
  },
  {
    name: 'digest',
    summary: 'Print the digest of a manifest',
    load: () => import('./commands/digest.js'),
  },
  {
    name: 'grants',
    summary: 'Compare the grants of consoles with a manifest',
    load: () => import('./commands/grants.js'),
  },
  {
    name: 'selftest',
    summary: 'Run known gateway attacks against a host and report the results',
    load: () => import('./commands/selftest.js'),
  },
  {
    name: 'token',
    summary: 'Create, list or revoke tokens of the tokens file',
    load: () => import('./commands/token.js'),
  },
  {
    name: 'sessions',
    summary: 'List or end sessions of the console of a running host',
    load: () => import('./commands/sessions.js'),
  },
  {
    name: 'plugins',
    summary: 'List plugins and their states, or print digests of their files',
    load: () => import('./commands/plugins.js'),
  },
  {
    name: 'new',
    summary: 'Create the files of a new module, plugin or surface',
    load: () => import('./commands/new.js'),
  },
  {
    name: 'client',
    summary: 'Write a typed TypeScript client of modules',
    load: () => import('./commands/client.js'),
  },
  {
    name: 'import',
    summary: 'Import the OpenAPI description of a service as a module',
    load: () => import('./commands/import.js'),
  },
  {
    name: 'test-plugin',
    summary: 'Run the conformance suite against a plugin',
    load: () => import('./commands/test-plugin.js'),
  },
  {
    name: 'completion',
    summary: 'Print a completion script for a shell',
    load: async () => (await import('./commands/completion.js')).createCompletion(COMMANDS),
  },
];
