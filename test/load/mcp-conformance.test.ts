import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { parse } from 'yaml';
import { describeModule } from '../support/http/modules.js';
import { useHost } from '../support/http/use-host.js';
import { findMissing, listFailed, readChecks, runSuite } from '../support/mcp/conformance-suite.js';
import { type RunningProxy, startTokenProxy } from '../support/mcp/token-proxy.js';
import { createFolder } from '../support/temporary-folder.js';

/** The suite has frozen requirements since the second of them. */
const REVISIONS = {
  '2025-06-18': ['--spec-version', '2025-06-18'],
  '2025-11-25': ['--requirements', '2025-11-25'],
  '2026-07-28': ['--requirements', '2026-07-28'],
};
/** Scenarios of what the surface does not have, each with the reason. */
const EXPECTED_FAILURES = 'test/support/mcp/conformance-expected-failures.yaml';

const route = (operation_id: string, path: string, operation: object, method = 'GET') => ({
  ...{ method, path, capability: 'test.use', summary: 'A tool that the suite calls.' },
  operation: { operation_id, ...operation },
});

const TEXT = { response: 'bytes', response_types: ['text/plain'] };

/** The names of the tools are that of the module and these. The second response is not JSON, so that it fails. */
const ROUTES = [route('simple_text', '/text', TEXT), route('error_handling', '/error', {})];

/** The checks of a listed scenario that fail; all its others pass. */
const FAILING_CHECKS: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': [
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-missing-capability-http-400',
    'sep-2575-server-no-log-without-loglevel',
    'sep-2575-server-rejects-undeclared-capability',
  ],
  caching: [
    'sep-2549-prompts-list-caching-hints',
    'sep-2549-resources-list-caching-hints',
    'sep-2549-resources-templates-list-caching-hints',
  ],
};

describe('official conformance suite of MCP', () => {
  let results: string;
  let proxy: RunningProxy;
  const setup = useHost(
    ({ url }) => ({
      'test.json': describeModule('test', url, ROUTES, { mcp: { expose: 'read' } }),
    }),
    { args: ['--surfaces', 'mcp'], isDescribed: false },
  );

  before(async function () {
    const missing = findMissing();
    if (missing !== null && process.env['CI'] === undefined) this.skip();
    expect(missing).to.equal(null);
    results = createFolder();
    proxy = await startTokenProxy(setup.host.port, 'dev-service:agent:test.use');
  });

  after(async () => {
    await proxy?.close();
  });

  it('passes each scenario of what the surface has, in all revisions', async () => {
    setup.provider.answer({ headers: [['content-type', 'text/plain']], body: 'A text.' });
    const runs = Object.entries(REVISIONS).map(([name, revision]) =>
      runSuite([
        ...['server', '--url', `${proxy.url}/mcp`, ...revision],
        ...['--output-dir', join(results, name)],
      ]),
    );
    for (const output of await Promise.all(runs)) expect(output).to.match(/Total: \d+ passed/);
    const { server: expected } = parse(readFileSync(EXPECTED_FAILURES, 'utf8')) as {
      server: readonly string[];
    };
    const failing = listFailing(results);
    expect([...failing.keys()].sort()).to.deep.equal([...expected].sort());
    for (const [scenario, checks] of Object.entries(FAILING_CHECKS)) {
      expect(failing.get(scenario), scenario).to.deep.equal(checks);
    }
  });
});

/** The failing checks of each scenario that has some, of all revisions. */
function listFailing(results: string): Map<string, string[]> {
  const failing = new Map<string, string[]>();
  const checks = readChecks(results);
  expect(checks.size).to.be.above(60);
  for (const [folder, ofScenario] of checks) {
    const scenario = /\/server-([^/]+)-\d{4}-\d\d-\d\dT[^/]*$/.exec(folder)?.[1] ?? folder;
    const failed = listFailed(ofScenario);
    if (failed.length > 0) failing.set(scenario, failed);
  }
  return failing;
}
