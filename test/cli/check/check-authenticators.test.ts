import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import { describeModule } from '../../support/http/modules.js';
import { useEach } from '../../support/use.js';

const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];
const describeCrm = (...names: readonly string[]) =>
  describeModule('crm', 'http://127.0.0.1:4100', ROUTES, { forward_headers: names });
const NOTE =
  "a host also rejects a name in 'forward_headers' that 'hmac' reads; a check does not open authenticators of plugins";

describe('modgate check with authenticators of plugins', () => {
  const place = useEach(createWorkplace);

  async function readNotes(...args: string[]): Promise<unknown> {
    const { code, stdout } = await place.run(['check', ...args, '--json']);
    expect(code).to.equal(0);
    return (JSON.parse(stdout) as { readonly notes: unknown }).notes;
  }

  it('notes that the headers that they read are unknown', async () => {
    place.write('modules.d/crm.json', describeCrm('x-tenant'));
    const noted = [{ file: 'modules.d/crm.json', message: NOTE }];
    expect(await readNotes('--authenticators', 'tokens,hmac')).to.deep.equal(noted);
    expect(await readNotes('--authenticators', 'tokens,dev,issuers')).to.deep.equal([]);
    expect(await readNotes()).to.deep.equal([]);
  });

  it('notes nothing about a descriptor that forwards no further headers', async () => {
    place.write('modules.d/crm.json', describeCrm());
    expect(await readNotes('--authenticators', 'hmac')).to.deep.equal([]);
  });
});
