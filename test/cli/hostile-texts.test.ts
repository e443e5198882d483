import { expect } from 'chai';
import { startFakeHost } from '../support/cli/fake-host.js';
import { runHere } from '../support/cli/run-here.js';
import { use } from '../support/use.js';

/** Ends a title, moves the cursor, hides text, reverses it, and adds a line of its own. */
const HOSTILE = 'x\u001b]0;a\u0007\u009b2J\u200b\u202e\u{e0041}\r\ny';
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are the subject
const RAW = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202e]|\udb40/;
const TIME = '2026-01-01T00:00:00Z';

const RESPONSES: Readonly<Record<string, object>> = {
  releases: {
    active: HOSTILE,
    canary: { release: HOSTILE, since: TIME, hosts: [HOSTILE], until: HOSTILE, modules: {} },
    releases: [
      {
        ...{ release: HOSTILE, base: null, author: { kind: 'user', id: HOSTILE }, note: HOSTILE },
        ...{ created_at: TIME, least_version: HOSTILE, files: 1, bytes: 1, verdict: null },
      },
    ],
    hosts: [{ host: HOSTILE, release: HOSTILE, problem: HOSTILE }],
  },
  fleet: {
    ...{ fleet: HOSTILE, agreed: true, digest: HOSTILE },
    hosts: [
      {
        ...{ id: HOSTILE, state: 'ready', version: HOSTILE, workers: 1, digest: HOSTILE },
        ...{ started_at: TIME, heartbeat_at: TIME, address: HOSTILE, rejected: [HOSTILE] },
      },
    ],
  },
  approvals: {
    approvals: [
      {
        ...{ id: HOSTILE, status: HOSTILE, module: HOSTILE, name: HOSTILE, danger_level: HOSTILE },
        ...{ actor: { kind: 'user', id: HOSTILE }, requested_at: TIME, expires_at: TIME },
        ...{ summary: HOSTILE, reason: HOSTILE },
      },
    ],
  },
};

describe('texts of a host that modgate prints', () => {
  let answer: { status?: number; body: unknown };
  const host = use(() => startFakeHost(() => answer));

  const run = (...args: string[]) => runHere([...args, '--url', host.url, '--token', 'dev-user:a']);

  for (const [command, body] of Object.entries(RESPONSES)) {
    it(`do not control the terminal: ${command}`, async () => {
      answer = { body };
      const printed = await run(command);
      expect(printed).to.include({ code: 0, stderr: '' });
      expect(printed.stdout).to.include('\\u001b]0;a').and.not.match(RAW);
      expect(printed.stdout).not.to.match(/^y/m);
      const json = await run(command, '--json');
      expect(json.stdout).not.to.match(RAW);
      expect(JSON.parse(json.stdout)).to.deep.equal(body);
    });

    it(`do not control the terminal in errors: ${command}`, async () => {
      const problem = { status: 400, code: HOSTILE, detail: HOSTILE, errors: [], next_actions: [] };
      answer = { status: 400, body: problem };
      const printed = await run(command);
      expect(printed.code).to.equal(1);
      expect(printed.stderr + printed.stdout).not.to.match(RAW);
    });
  }

  it('are escaped by the one place that prints, in every command', async () => {
    const printed = await runHere(['digest', `nothing-${HOSTILE}.yaml`]);
    expect(printed.code).to.be.above(0);
    expect(printed.stderr)
      .to.match(/\\u001b/)
      .and.not.match(RAW);
  });
});
