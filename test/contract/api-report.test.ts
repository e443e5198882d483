import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';

const REPORT = 'docs/contract-api.txt';
const HOW = 'run: node tools/api-report.mjs';

describe('the report of modgate/contract', () => {
  const committed = readFileSync(REPORT, 'utf8');

  it('lists what the code exports', () => {
    const [node, script] = [process.execPath, 'tools/api-report.mjs'];
    const now = execFileSync(node, [script, '--print'], { encoding: 'utf8' });
    expect(now, `what modgate/contract exports has changed; ${HOW}`).to.equal(committed);
  });

  it('has its digest in the section Contract of the changelog, with what changed', () => {
    const digest = createHash('sha256').update(committed).digest('hex').slice(0, 12);
    const changelog = readFileSync('CHANGELOG.md', 'utf8');
    const sections = changelog
      .split(/^### /m)
      .filter((section) => section.startsWith('Contract\n'));
    const lines = sections.join('').split(/^- /m);
    const line = lines.find((text) => text.includes(`(api ${digest})`));
    const expected = `add a line under ### Contract of CHANGELOG.md: - what changed (api ${digest})`;
    expect(line, `${REPORT} has changed without a line in the changelog; ${expected}`).to.match(
      /\w+ \w+/,
    );
  });
});
