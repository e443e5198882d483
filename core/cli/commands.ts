import type { CommandModule } from './command-module.js';

interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  load(): Promise<CommandModule>;
}

/** Every command; each is one file, imported only when it is called. In the order of help. */
export const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'serve',
    summary: 'serve the modules of a folder of descriptors',
    load: () => import('./commands/serve.js'),
  },
  {
    name: 'check',
    summary: 'judge descriptors and manifests as a host would',
    load: () => import('./commands/check.js'),
  },
  {
    name: 'status',
    summary: 'show what a running host made of each descriptor',
    load: () => import('./commands/status.js'),
  },
  {
    name: 'calls',
    summary: 'show the last calls of a running host',
    load: () => import('./commands/calls.js'),
  },
  {
    name: 'wait',
    summary: 'wait until a running host serves a module or a digest',
    load: () => import('./commands/wait.js'),
  },
  {
    name: 'explain',
    summary: 'tell what a host does with a request, and why',
    load: () => import('./commands/explain.js'),
  },
  {
    name: 'audit',
    summary: 'print or verify the audit of writes and actions',
    load: () => import('./commands/audit.js'),
  },
  {
    name: 'encrypt-store',
    summary: 'encrypt the sensitive values of a store that was written without a key',
    load: () => import('./commands/encrypt-store.js'),
  },
  {
    name: 'digest',
    summary: "print a manifest's digest",
    load: () => import('./commands/digest.js'),
  },
  {
    name: 'grants',
    summary: 'show what consoles are granted, and what a manifest declares',
    load: () => import('./commands/grants.js'),
  },
  {
    name: 'selftest',
    summary: 'attack a host, and tell what held',
    load: () => import('./commands/selftest.js'),
  },
  {
    name: 'token',
    summary: 'create, list or revoke tokens of the tokens file',
    load: () => import('./commands/token.js'),
  },
  {
    name: 'plugins',
    summary: 'list plugins with their states, or digest their files',
    load: () => import('./commands/plugins.js'),
  },
  {
    name: 'new',
    summary: 'write the files of a new module or plugin',
    load: () => import('./commands/new.js'),
  },
  {
    name: 'test-plugin',
    summary: 'put a plugin to the clauses of the contract',
    load: () => import('./commands/test-plugin.js'),
  },
  {
    name: 'completion',
    summary: 'print the completion script of a shell',
    load: async () => (await import('./commands/completion.js')).createCompletion(COMMANDS),
  },
];
