import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { runModgate } from '../support/cli/run-modgate.js';
import { createFolder } from '../support/temporary-folder.js';

// Already canonical (RFC 8785): ordered, without spaces.
const CANONICAL =
  '{"capabilities":[],"http_routes":[],"module_id":"crm","protocol":"modgate.manifest.v1"}';
const DIGEST = `sha256:${createHash('sha256').update(CANONICAL).digest('hex')}`;

describe('modgate digest', () => {
  let folder = '';

  before(() => {
    folder = createFolder();
  });

  function write(name: string, text: string): string {
    const file = join(folder, name);
    writeFileSync(file, text);
    return file;
  }

  it('prints the digest of the canonical form for every layout of the file', async () => {
    const yaml =
      '# ours\nprotocol: modgate.manifest.v1\nmodule_id: crm\ncapabilities: []\nhttp_routes: []\n';
    for (const file of [write('a.json', CANONICAL), write('a.yaml', yaml)]) {
      const expected = { code: 0, stdout: `${DIGEST}\n`, stderr: '' };
      expect(await runModgate(['digest', file])).to.deep.equal(expected);
    }
  });

  it('prints JSON with --json', async () => {
    const file = write('b.json', CANONICAL);
    const { code, stdout } = await runModgate(['digest', file, '--json']);
    expect(code).to.equal(0);
    expect(JSON.parse(stdout)).to.deep.equal({ file, digest: DIGEST });
  });

  it('rejects an invalid manifest with one line, its place and exit 2', async () => {
    const file = write('bad.json', CANONICAL.replace('"crm"', '"Not A Name"'));
    const { code, stdout, stderr } = await runModgate(['digest', file]);
    expect({ code, stdout }).to.deep.equal({ code: 2, stdout: '' });
    expect(stderr).to.match(/^modgate: \S+bad\.json:1:\d+ 'module_id' must be [^\n]+\n$/);
    expect(stderr).not.to.include('Not A Name');
  });

  it('rejects a missing file', async () => {
    const file = join(folder, 'missing.json');
    const stderr = `modgate: ${file} does not exist\n`;
    expect(await runModgate(['digest', file])).to.deep.equal({ code: 2, stdout: '', stderr });
  });
});
