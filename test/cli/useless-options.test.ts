import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';

/** Refused by the system, so that a command which calls it exits with 1. */
const HOST = ['--url', 'http://127.0.0.1:1'];
const CREATE = ['token', 'create', 'a', '--tokens', 'nowhere.yaml'];
const EXPLAIN = ['explain', 'GET', '/modules/a/http/b'];
const STORE = ['--store', 'postgres://127.0.0.1:1/x'];

type Case = readonly [args: readonly string[], line: string];

const USELESS: readonly Case[] = [
  [[...CREATE, '--token-header', 'x-a'], '--token-header cannot be used without --header-key'],
  [[...EXPLAIN, '--plugins', 'x'], '--plugins cannot be used without --modules'],
  [
    [...EXPLAIN, '--modules', '.', '--token', 'x'],
    '--token cannot be used with --modules: choose files or a running host',
  ],
  [
    ['explain', '--request-id', 'a', '--plugins', 'x'],
    '--plugins cannot be used with --request-id',
  ],
  [['explain', 'GET', '--request-id', 'a'], '--request-id cannot be used with a method or a path'],
  [['openapi', '--plugins', 'x'], '--plugins cannot be used without --modules'],
  [
    ['client', '--out', 'x.ts', '--modules', '.', '--ca', 'x'],
    '--ca cannot be used with --modules: choose files or a running host',
  ],
  [['check', '.', '--token', 'x'], '--token cannot be used without --against'],
  [['check', '.', '--modules', '.'], '--modules cannot be used with a file or folder'],
  [['status', ...HOST, '--json', '--modules-only'], '--modules-only cannot be used with --json'],
  [['plugins', '--token', 'x'], '--token cannot be used without --url'],
  [['plugins', '--ca', 'x'], '--ca cannot be used without --url'],
  [['plugins', ...HOST, '--plugins', 'x'], '--plugins cannot be used with --url'],
  [['selftest', 'http://127.0.0.1:1', '--token', 'x'], '--token cannot be used without --route'],
  [
    ['selftest', 'http://127.0.0.1:1', '--json', '--verbose'],
    '--verbose cannot be used with --json',
  ],
  [['calls', ...HOST, '--follow', '--limit', '1'], '--limit cannot be used with --follow'],
  [['publish', '.', '--no-wait'], '--no-wait cannot be used without --canary'],
  [['publish', '.', '--timeout', '5s'], '--timeout cannot be used without --wait'],
  [['publish', '.', '--ignore-lost'], '--ignore-lost cannot be used without --wait'],
  [['grants', '--ca', 'x'], '--ca cannot be used without --role'],
  [['audit', ...STORE, '--state', 'x'], '--state cannot be used with --store'],
  [['encrypt-store', ...STORE, '--state', 'x'], '--state cannot be used with --store'],
];

const EMPTY: readonly Case[] = [
  [['calls', ...HOST, '--module', ''], '--module must not be empty'],
  [['audit', '--store='], '--store must not be empty'],
  [['audit', '--module='], '--module must not be empty'],
  [['serve', '--port='], '--port must not be empty'],
  [['check', ''], "argument 'file|dir' must not be empty"],
  [['openapi', 'a', '', ...HOST], "argument 'module' must not be empty"],
];

describe('modgate: options without effect', () => {
  for (const [args, line] of [...USELESS, ...EMPTY]) {
    it(`rejects '${args.join(' ')}' with exit 2`, async () => {
      const stderr = `modgate: ${line}\n`;
      expect(await runModgate(args)).to.deep.equal({ code: 2, stdout: '', stderr });
    });
  }
});
