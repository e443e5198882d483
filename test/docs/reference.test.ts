import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { PROBLEMS } from '../../core/errors.js';

describe('docs/reference', () => {
  it('has pages that agree with the code', () => {
    const args = ['tools/write-reference.mjs', '--check'];
    const { status, stderr } = spawnSync(process.execPath, args, { encoding: 'utf8' });
    expect(stderr).to.equal('');
    expect(status).to.equal(0);
  });

  it('lists every code of a Problem, with its status and title', () => {
    const text = readFileSync('docs/reference/problems.md', 'utf8');
    const rows = text.matchAll(/^\| `([a-z_]+)` \| (\d+|the provider's) \| ([^|]+) \| [^|]+ \|$/gm);
    const listed = [...rows].map(([, code, status, title]) => ({ code, status, title }));
    const expected = Object.entries(PROBLEMS).map(([code, { status, title }]) => ({
      code,
      status: code === 'provider_error' ? "the provider's" : String(status),
      title,
    }));
    expect(listed).to.deep.equal(expected);
  });
});
