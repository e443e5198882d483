import { join } from 'node:path';
import { expect } from 'chai';
import { checkJsonIn } from '../../support/cli/check-json.js';
import { createWorkplace } from '../../support/cli/run-in.js';
import { call } from '../../support/http/call.js';
import { describeModule } from '../../support/http/modules.js';
import {
  CONTRACT_URL,
  SUPERSTRUCT_URL,
  writePlugin,
} from '../../support/isolation/write-plugin.js';
import { startHost } from '../../support/start-host.js';
import { useEach } from '../../support/use.js';

const LIVE = 'https://crm.internal';
const NEXT = 'https://next.internal';
const ROUTES = [{ method: 'GET', path: '/items', capability: 'crm.read' }];

/** Two kinds whose endpoints have a form of their own. Only `places` describes them. */
const PLACES = `import { defineAdapter } from ${JSON.stringify(CONTRACT_URL)};
import { array, object, string } from ${JSON.stringify(SUPERSTRUCT_URL)};
const common = {
  config: object({ endpoints: array(object({ at: string() })) }),
  supports: {},
  open: () => { throw new Error('a check opens no provider'); },
};
const toOrigin = ({ at }) => (at === 'none' ? null : at.replace(':', '://'));
export default { adapters: [
  defineAdapter({
    ...common,
    kind: 'places',
    describeConfig: ({ endpoints }) => ({ hostUses: [], origins: endpoints.map(toOrigin) }),
  }),
  defineAdapter({ ...common, kind: 'mute' }),
] };`;

describe('modgate check, of candidates', () => {
  const place = useEach(createWorkplace);

  /** @param candidate lines of the descriptor that follow line 6, which has the key */
  const write = (candidate: string, endpoints = `['${LIVE}']`) =>
    place.write(
      'modules.d/crm.yaml',
      `module: crm
provider:
  kind: http
  config: { endpoints: ${endpoints} }
manifest: { inline: { protocol: modgate.manifest.v1, module_id: crm, capabilities: [], http_routes: [] } }
candidate:
${candidate}
`,
    );
  const check = async () => (await checkJsonIn(place)).findings;

  const mistakes: readonly (readonly [string, string, object])[] = [
    ['without endpoints', '  share: 0.1', { rule: 'missing-key', line: 6 }],
    [
      'with no endpoint',
      '  endpoints: []',
      { message: "'candidate.endpoints' must be a list with a length between 1 and 64", line: 7 },
    ],
    [
      'with an endpoint that is no URL',
      "  endpoints: ['next']",
      { rule: 'invalid-value', line: 7, column: 15 },
    ],
    [
      'in clear text beside a live provider that is not',
      "  endpoints: ['http://next.internal']",
      {
        message: "'candidate.endpoints[0]' must be https: every endpoint of the live provider is",
        hint: 'copies carry the credentials of the live provider: use https',
        line: 7,
      },
    ],
    [
      'with a share above 1',
      `  endpoints: ['${NEXT}']\n  share: 10`,
      { message: "'candidate.share' must be a number from 0 to 1", line: 8 },
    ],
    [
      'with a pointer without a slash',
      `  endpoints: ['${NEXT}']\n  ignore: [took]`,
      {
        message:
          "'candidate.ignore[0]' must be a JSON Pointer that starts with /, in which * is one step",
        line: 8,
      },
    ],
    [
      'with a file that does not exist',
      '  endpoints: { file: ./crm/next.json }',
      {
        message:
          "'candidate.endpoints.file' refers to the file './crm/next.json', which does not exist",
        line: 7,
      },
    ],
  ];
  for (const [title, candidate, expected] of mistakes) {
    it(`reports a candidate ${title}, and where`, async () => {
      write(candidate);
      const findings = await check();
      expect(findings).to.have.length(1);
      expect(findings[0]).to.deep.include({
        file: 'modules.d/crm.yaml',
        severity: 'error',
        ...expected,
      });
    });
  }

  it('reports a candidate of a kind without endpoints', async () => {
    place.write('modules.d/crm.json', {
      ...describeModule('crm', LIVE, ROUTES),
      provider: { kind: 'local', config: { file: './crm.mjs' } },
      candidate: { endpoints: [NEXT] },
    });
    place.write('modules.d/crm.mjs', '');
    const [finding] = await check();
    expect(finding).to.deep.include({
      rule: 'candidate-unsupported',
      message: "'candidate' cannot be used: a provider of kind local has no endpoints",
      hint: 'remove it',
    });
  });

  it('reads the origins from the description of the adapter', async () => {
    const manifest = { name: 'acme', kinds: ['places', 'mute'] };
    writePlugin(join(place.folder, 'plugins'), { name: 'acme', manifest, entry: PLACES });
    const checkOf = async (kind: string, live: readonly string[], candidate: string) => {
      const toEndpoint = (at: string) => ({ at });
      place.write('modules.d/crm.json', {
        ...describeModule('crm', LIVE, ROUTES),
        provider: { kind, config: { endpoints: live.map(toEndpoint) } },
        candidate: { endpoints: [toEndpoint(candidate)] },
      });
      const { findings } = await checkJsonIn(place, '--plugins', 'plugins');
      return findings.map(({ message }) => message);
    };
    expect(await checkOf('places', ['https:crm'], 'http:next')).to.deep.equal([
      "'candidate.endpoints[0]' must be https: every endpoint of the live provider is",
    ]);
    expect(await checkOf('places', ['https:crm', 'http:crm'], 'http:next')).to.deep.equal([
      "'candidate.endpoints[0]': copies of calls, with the credentials for the provider, go to http://next",
    ]);
    expect(await checkOf('places', ['https:crm'], 'none')).to.deep.equal([
      "the adapter of kind 'places' returns an invalid config description",
    ]);
    expect(await checkOf('mute', ['https:crm'], 'https:next')).to.deep.equal([
      "'candidate' cannot be used: the adapter of kind mute does not describe the origins of endpoints",
    ]);
  });

  it('names the origins of copies, and methods that write', async () => {
    write(
      `  endpoints: ['${NEXT}/v2', { srv: _crm._tcp.next.internal, scheme: https }]\n  methods: [GET, POST]`,
    );
    const findings = await check();
    expect(findings.map(({ message }) => message)).to.deep.equal([
      "'candidate.methods[1]': the candidate carries out each copied POST once more",
      "'candidate.endpoints[0]': copies of calls, with the credentials for the provider, go to https://next.internal",
      "'candidate.endpoints[1]': copies of calls, with the credentials for the provider, go to https://_crm._tcp.next.internal",
    ]);
    expect(findings.map(({ severity }) => severity)).to.deep.equal(Array(3).fill('warning'));
  });

  it('names the origins in a file of endpoints, and reports mistakes in it', async () => {
    write('  endpoints: { file: ./crm/next.yaml }');
    place.write('modules.d/crm/next.yaml', `- ${NEXT}/a\n- ${NEXT}/b\n- https://third.internal\n`);
    expect((await check()).map(({ line, message }) => ({ line, message }))).to.deep.equal([
      {
        line: 7,
        message:
          "'candidate.endpoints.file': copies of calls, with the credentials for the provider, go to https://next.internal, https://third.internal",
      },
    ]);
    place.write('modules.d/crm/next.yaml', `- ${NEXT}\n- next\n`);
    const [mistake] = await check();
    expect(mistake).to.deep.include({
      file: 'modules.d/crm/next.yaml',
      line: 2,
      severity: 'error',
    });
  });

  it('accepts http in the file only if the live provider has such an endpoint', async () => {
    place.write('modules.d/crm/next.yaml', '- http://next.internal\n');
    place.write('modules.d/crm/live.yaml', `- ${LIVE}\n`);
    for (const live of [`['${LIVE}']`, '{ file: ./crm/live.yaml }']) {
      write('  endpoints: { file: ./crm/next.yaml }', live);
      const [mistake] = await check();
      expect(mistake).to.deep.include({ file: 'modules.d/crm/next.yaml', severity: 'error' });
      expect(mistake?.message).to.contain('those of the live provider are');
    }
    place.write('modules.d/crm/live.yaml', `- ${LIVE}\n- http://crm.internal\n`);
    for (const live of [`['${LIVE}', 'http://crm.internal']`, '{ file: ./crm/live.yaml }']) {
      write('  endpoints: { file: ./crm/next.yaml }', live);
      expect((await check()).map(({ severity }) => severity)).to.deep.equal(['warning']);
    }
  });

  it('rejects http in the descriptor if the file of the live provider has only https', async () => {
    place.write('modules.d/crm/live.yaml', `- ${LIVE}\n`);
    write("  endpoints: ['http://next.internal']", '{ file: ./crm/live.yaml }');
    const findings = await check();
    expect(findings.map(({ rule, line }) => [rule, line])).to.deep.equal([['candidate-scheme', 7]]);
    place.write('modules.d/crm/live.yaml', `- ${LIVE}\n- http://crm.internal\n`);
    expect((await check()).map(({ severity }) => severity)).to.deep.equal(['warning']);
  });

  it('reports with --against the origins that come and go', async () => {
    const describe = (candidate?: object) =>
      describeModule('crm', LIVE, ROUTES, candidate && { candidate });
    const host = await startHost({
      files: { 'crm.json': describe({ endpoints: [NEXT, `${NEXT}/v2`] }) },
    });
    try {
      const compare = async () => {
        const token = { MODGATE_TOKEN: 'dev-service:ops:modgate.modules.read' };
        const { stdout } = await place.run(['check', '--against', host.url], token);
        return stdout.slice(stdout.indexOf('against')).trim().split('\n').slice(1);
      };
      place.write('modules.d/crm.json', describe({ endpoints: [NEXT, `${NEXT}/v2`] }));
      expect(await compare()).to.deep.equal(['  = 1 module unchanged']);
      place.write('modules.d/crm/next.json', [NEXT]);
      place.write('modules.d/crm.json', describe({ endpoints: { file: './crm/next.json' } }));
      expect(await compare()).to.deep.equal([
        '  ~ crm changed',
        '      - permission candidate opens https://next.internal',
        '      + permission candidate opens endpoints of ./crm/next.json',
        '  = 0 modules unchanged',
      ]);
      place.write('modules.d/crm.json', describe({ endpoints: ['https://third.internal'] }));
      expect(await compare()).to.include(
        '      + permission candidate opens https://third.internal',
      );
      const { body } = await call(host, { target: '/modules' });
      expect(JSON.parse(body.toString()).modules[0].candidate).to.deep.equal({ origins: [NEXT] });
    } finally {
      await host.stop();
    }
  });
});
