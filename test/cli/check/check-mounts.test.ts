import { expect } from 'chai';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { describeModule } from '../../support/http/modules.js';
import { useEach } from '../../support/use.js';

const ENDPOINT = 'http://127.0.0.1:4100';

describe('modgate check of mounts', () => {
  const place = useEach(createWorkplace);

  const write = (name: string, mount: unknown) =>
    place.write(`modules.d/${name}.json`, describeModule(name, ENDPOINT, [], { mount }));
  const check = async () => {
    const { code, findings } = await checkJsonIn(place);
    return {
      code,
      findings: findings.map(({ rule, severity, message }) => ({ rule, severity, message })),
    };
  };

  for (const [title, mount, rule] of [
    ['a path of the host', { path: '/metrics/crm' }, 'reserved-mount'],
    ['a path below /modules', { path: '/modules/crm' }, 'reserved-mount'],
    ['the prefix of a surface', { path: '/console' }, 'reserved-mount'],
    ['a well-known path', { path: '/.well-known/crm' }, 'reserved-mount'],
    ['a root without a host', { path: '/' }, 'mount-without-host'],
    ['a wildcard', { host: '*.example', path: '/crm' }, 'invalid-value'],
    ['a final slash', { path: '/crm/' }, 'invalid-value'],
    ['dot segments', { path: '/crm/../x' }, 'invalid-value'],
    ['an encoded path', { path: '/crm%2Fx' }, 'invalid-value'],
    ['a parameter', { path: '/crm/{id}' }, 'invalid-value'],
  ] as const) {
    it(`rejects ${title}`, async () => {
      write('crm', [mount]);
      const { code, findings } = await check();
      expect(code).to.equal(1);
      expect(findings.map((diagnostic) => diagnostic.rule)).to.deep.equal([rule]);
    });
  }

  it('rejects a mount that is listed twice, in any spelling of its host', async () => {
    write('crm', [
      { host: 'crm.example', path: '/a' },
      { host: 'CRM.example.:80', path: '/a' },
    ]);
    const { findings } = await check();
    expect(findings.map((diagnostic) => diagnostic.rule)).to.deep.equal(['duplicate-mount']);
  });

  it('rejects a mount of another file, and warns of one below it', async () => {
    write('a', [{ path: '/api' }]);
    write('b', [{ path: '/b' }, { path: '/api' }]);
    write('c', [{ host: 'c.example', path: '/api/c' }]);
    expect(await check()).to.deep.equal({
      code: 1,
      findings: [
        {
          rule: 'duplicate-mount',
          severity: 'error',
          message: "mount '/api' is already taken by a.json",
        },
        {
          rule: 'nested-mount',
          severity: 'warning',
          message: "mount 'c.example/api/c' is below '/api' of module 'a' and replaces its paths",
        },
      ],
    });
  });
});
