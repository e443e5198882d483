import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { readOutsideText } from '../../support/outside.js';

interface Report {
  readonly routes: number;
  readonly unmapped: readonly { readonly place: string; readonly part: string }[];
}

/** The number of operations that each document has. */
const DOCUMENTS: readonly [file: string, operations: number][] = [
  ['openapi-petstore.yaml', 19],
  ['openapi-box.json', 296],
  ['openapi-adyen-management.json', 134],
];

describe('public OpenAPI descriptions', () => {
  const place = createWorkplace();

  for (const [file, operations] of DOCUMENTS) {
    const text = readOutsideText(`${file}.gz`);
    if (text === null) {
      it(`${file} needs MODGATE_OUTSIDE, or ../shared/outside`);
      continue;
    }

    it(`imports ${file}, with a route or a reason for each operation`, async () => {
      place.write(file, text);
      const [module = ''] = file.replace('openapi-', '').split('.');
      const args = ['import', 'openapi', file, '--module', module, '--json'];
      const { code, stdout, stderr } = await place.run([
        ...args,
        ...['--endpoint', 'https://api.example'],
      ]);
      expect(code, stderr).to.equal(0);
      const { routes, unmapped } = JSON.parse(stdout) as Report;
      const missing = unmapped.filter(({ part }) => /^(?:the operation|its own route)$/.test(part));
      expect(routes + missing.length).to.equal(operations);
    });
  }

  it('become files that pass check', async function () {
    if (!existsSync(join(place.folder, 'modules.d'))) this.skip();
    const checked = await place.run(['check', '--json']);
    expect(checked.code, checked.stdout).to.equal(0);
    expect(JSON.parse(checked.stdout).findings).to.deep.equal([]);
  });
});
