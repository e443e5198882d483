import { expect } from 'chai';
import type { Explanation } from '../../../core/operations/explain/explanation.js';
import {
  EXPLAINER,
  listFiles,
  PROVIDER_SECRET,
  READER,
  SPECIAL,
} from '../../support/cli/explained-files.js';
import type { Ended } from '../../support/cli/run-here.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { runModgate } from '../../support/cli/run-modgate.js';
import { buildManifest, toRoutes } from '../../support/http/modules.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

describe('modgate explain --modules', () => {
  const files = listFiles('http://127.0.0.1:4100');
  const env = { CRM_KEY: PROVIDER_SECRET };

  const place = createWorkplace();
  const host = use(() => {
    for (const [name, text] of Object.entries(files)) place.write(`modules.d/${name}`, text);
    return startHost({ files, env });
  });

  for (const [target, as] of [
    [SPECIAL, READER],
    [SPECIAL, 'anonymous'],
    ['/modules/refused/http/x', READER],
    ['/modules/off/http/x', READER],
    ['/modules/acme%2Fcrm/http/a//b', READER],
  ] as const) {
    it(`explains ${target} as ${as} like a host with the same files`, async () => {
      const args = ['explain', 'GET', target, '--as', as, '--json'];
      const offline = await place.run([...args, '--modules', 'modules.d'], env);
      expect({ code: offline.code, stderr: offline.stderr }).to.deep.equal({ code: 0, stderr: '' });
      const online = await runModgate([...args, '--url', host.url, '--token', EXPLAINER]);
      expect(comparable(offline)).to.deep.equal(comparable(online));
    });
  }

  /** Removes endpoints and times, which only a running host has. */
  function comparable({ stdout }: Ended): object {
    const { endpoints: _, module, checks, ...rest } = JSON.parse(stdout) as Explanation;
    const stable = module && { ...module, since: '', reason: null };
    return {
      ...rest,
      module: stable,
      checks: checks.map(({ detail: _detail, ...check }) => check),
    };
  }

  it('has no actor without --as', async () => {
    const args = ['explain', 'GET', SPECIAL, '--modules', 'modules.d'];
    const { code, stdout } = await place.run(args, env);
    expect(code).to.equal(0);
    expect(stdout).to.include('\n=> 401 authentication is required\n');
  });

  it('names the owner of the module', async () => {
    const owner = { name: 'Team CRM', contact: '#crm' };
    const manifest = { inline: buildManifest('owned', toRoutes(['GET /a'], 'owned.read')) };
    const provider = { kind: 'http', config: { endpoints: ['http://127.0.0.1:4100'] } };
    const descriptor = { module: 'owned', provider, manifest, owner };
    place.write('owned/owned.json', JSON.stringify(descriptor));
    const args = ['explain', 'GET', '/modules/owned/http/a', '--modules', 'owned'];
    const { stdout } = await place.run(args, env);
    expect(stdout).to.match(/^owner +Team CRM, #crm$/m);
  });
});
