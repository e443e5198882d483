import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { findMissing, listFailed, readChecks, runSuite } from '../support/mcp/conformance-suite.js';
import { createFolder } from '../support/temporary-folder.js';

const CLIENT = fileURLToPath(new URL('../support/mcp/conformance-client.js', import.meta.url));
const PAGE = 'docs/operate/kinds/mcp.md';

/** The scenarios that apply, and the revisions by which they are run. */
const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  initialize: ['2025-06-18', '2025-11-25'],
  tools_call: ['2025-06-18', '2025-11-25', '2026-07-28'],
  'sse-retry': ['2025-11-25'],
  'request-metadata': ['2026-07-28'],
  'http-standard-headers': ['2026-07-28'],
  'http-custom-headers': ['2026-07-28'],
  'http-invalid-tool-headers': ['2026-07-28'],
  'json-schema-ref-no-deref': ['2026-07-28'],
  'json-schema-2020-12-preservation': ['2025-11-25', '2026-07-28'],
  'sep-2322-client-request-state': ['2026-07-28'],
};

/** Scenarios of what the host does not do as a client. The page says why. */
const NOT_APPLICABLE = ['auth/', 'elicitation-sep1034-client-defaults', 'sep-2640-client-'];

/** The checks of a scenario that fail, with the reason in the page; all its others pass. */
const FAILING_CHECKS: Readonly<Record<string, readonly string[]>> = {
  'json-schema-2020-12-preservation 2026-07-28': ['sep-2106-client-anchor-keyword-preserved'],
  'sep-2322-client-request-state 2026-07-28': [
    'sep-2322-client-jsonrpc-id-different',
    'sep-2322-client-no-state-omitted',
    'sep-2322-client-request-state-echoed',
  ],
};

describe('official conformance suite of MCP, for clients', () => {
  let results: string;

  before(function () {
    const missing = findMissing();
    if (missing !== null && process.env['CI'] === undefined) this.skip();
    expect(missing).to.equal(null);
    results = createFolder();
  });

  for (const [scenario, revisions] of Object.entries(SCENARIOS)) {
    for (const revision of revisions) {
      const failing = FAILING_CHECKS[`${scenario} ${revision}`] ?? [];
      const but = failing.length === 0 ? '' : ` but for ${failing.length}`;
      it(`passes ${scenario}${but}, by the revision ${revision}`, async () => {
        const folder = join(results, revision);
        const output = await runSuite([
          ...['client', '--command', `${process.execPath} ${CLIENT}`, '--output-dir', folder],
          ...['--scenario', scenario, '--spec-version', revision],
        ]);
        const found = [...readChecks(folder)].find(([name]) => name.startsWith(scenario));
        const [, checks = []] = found ?? [];
        expect(
          checks.filter(({ status }) => status === 'SUCCESS'),
          output,
        ).to.not.be.empty;
        expect(listFailed(checks), output).to.deep.equal(failing);
      });
    }
  }

  it('has no other scenario that applies', async () => {
    const listed = [...(await runSuite(['list', '--client'])).matchAll(/^ {2}- (\S+) \[/gm)];
    const others = listed
      .map(([, name = '']) => name)
      .filter((name) => !NOT_APPLICABLE.some((start) => name.startsWith(start)));
    expect(others).to.have.members(Object.keys(SCENARIOS));
  });

  it('is described in the page', () => {
    const page = readFileSync(PAGE, 'utf8');
    const names = [...Object.keys(SCENARIOS), ...NOT_APPLICABLE];
    for (const name of names) expect(page).to.include(`\`${name}`);
  });
});
