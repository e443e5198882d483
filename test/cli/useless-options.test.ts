import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';

/** Refused by the system, so that a command which calls it exits with 1. */
const HOST = ['--url', 'http://127.0.0.1:1'];
const TOKENS = ['--tokens', 'nowhere.yaml'];
const CREATE = ['token', 'create', 'a', ...TOKENS];
const REVOKE = ['token', 'revoke', 'a', ...TOKENS];
const LIST = ['token', 'list', ...TOKENS];
const EXPLAIN = ['explain', 'GET', '/modules/a/http/b'];
const STORE = ['--store', 'postgres://127.0.0.1:1/x'];

type Case = readonly [args: readonly string[], line: string];

const USELESS: readonly Case[] = [
  [[...CREATE, '--all'], '--all cannot be used with create'],
  [[...CREATE, '--token-header', 'x-a'], '--token-header cannot be used without --header-key'],
  [[...REVOKE, '--scope', 'x'], '--scope cannot be used with revoke'],
  [[...REVOKE, '--kind', 'user'], '--kind cannot be used with revoke'],
  [[...LIST, '--expires', '1d'], '--expires cannot be used with list'],
  [[...LIST, '--all'], '--all cannot be used with list'],
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
  [['approvals', 'approve', 'apr_1', ...HOST, '--json'], '--json cannot be used with approve'],
  [['sessions', 'end', 'a', ...HOST, '--json'], '--json cannot be used with end'],
  [['plugins', '--own'], '--own cannot be used without digest'],
  [['plugins', '--token', 'x'], '--token cannot be used without --url'],
  [['plugins', '--ca', 'x'], '--ca cannot be used without --url'],
  [['plugins', 'digest', 'x', '--ca', 'x'], '--ca cannot be used with digest'],
  [['plugins', ...HOST, '--plugins', 'x'], '--plugins cannot be used with --url'],
  [['plugins', 'digest', 'x', '--check'], '--check cannot be used with digest'],
  [['selftest', '--token', 'x'], '--token cannot be used without the URL of a running host'],
  [['selftest', 'http://127.0.0.1:1', '--token', 'x'], '--token cannot be used without --route'],
  [['selftest', '--json', '--verbose'], '--verbose cannot be used with --json'],
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
