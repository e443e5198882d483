import { expect } from 'chai';
import { createWorkplace } from '../../support/cli/run-in.js';
import {
  type DocumentedBlock,
  readDocumentedBlocks,
} from '../../support/docs/documented-commands.js';
import { writeDocumentedFiles } from '../../support/docs/documented-files.js';
import { buildManifest, describeModule } from '../../support/http/modules.js';
import { answerJson, startProvider } from '../../support/provider.js';

const PAGE = 'docs/operate/fifty-services.md';
const ENDPOINT = 'http://127.0.0.1:9';
const CRM = {
  ...buildManifest('crm', [
    { method: 'GET', path: '/contacts', capability: 'crm.contacts.read' },
    { method: 'POST', path: '/contacts', capability: 'crm.contacts.write' },
  ]),
  admin: {
    entities: [
      { name: 'contacts', read_capability: 'crm.contacts.read', list_path: '/admin/contacts' },
    ],
  },
};

function findBlock(isWanted: (block: DocumentedBlock) => boolean): string {
  const body = readDocumentedBlocks(PAGE).find(isWanted)?.body;
  if (body === undefined) throw new Error(`${PAGE} has no such block`);
  return body;
}

describe(PAGE, () => {
  it('has descriptors that modgate check accepts', async () => {
    const place = createWorkplace();
    expect(writeDocumentedFiles(PAGE, place.folder)).to.deep.equal([
      'modules.d/crm.yaml',
      'modules.d/billing.yaml',
      'modules.d/payroll.yaml',
      'modules.d/orders.yaml',
      'modules.d/stock.yaml',
      'modules.d/mail.yaml',
      'modules.d/mail/endpoints.yaml',
      'modules.d/invoices.yaml',
    ]);
    const args = ['check', '--allow-missing-secrets', '--json'];
    const { code, stdout } = await place.run(args);
    const { findings } = JSON.parse(stdout) as { findings: { rule: string }[] };
    expect({ code, rules: findings.map(({ rule }) => rule) }).to.deep.equal({
      code: 0,
      // The warning names the origin that receives the copies of invoices.
      rules: ['candidate-origin'],
    });
  });

  it('shows what modgate grants --role prints', async () => {
    const place = createWorkplace();
    const crm = describeModule('crm', ENDPOINT, [], { manifest: { inline: CRM } });
    place.write('modules.d/crm.json', crm);
    place.write(
      'roles.yaml',
      findBlock(({ body }) => body.startsWith('# roles.yaml')),
    );
    const block = findBlock(({ body }) => body.startsWith('$ npx modgate grants --role'));
    const [command = '', ...lines] = block.split('\n');
    const { code, stdout } = await place.run(command.split(' ').slice(3));
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: lines.join('\n') });
  });

  it('shows what modgate candidate prints', async () => {
    const place = createWorkplace();
    const block = findBlock(({ body }) => body.startsWith('$ npx modgate candidate'));
    const [command = '', ...lines] = block.split('\n');
    const totals = [
      { route: 'GET /invoices', same: 412, different: 0, failed: 0, dropped: 0 },
      { route: 'GET /invoices/{id}', same: 1630, different: 21, failed: 0, dropped: 4 },
    ];
    const difference = {
      at: '2026-01-31T12:00:00.000Z',
      route: 'GET /invoices/{id}',
      live: 200,
      candidate: 200,
      request_id: '3f1c2a58-4b0e-4b39-9d0c-1f6e7a0f2b11',
      pointers: [
        { pointer: '/total', kind: 'value' },
        { pointer: '/lines/0/sku', kind: 'missing' },
      ],
    };
    const host = await startProvider(
      answerJson({ module: 'invoices', totals, differences: [difference] }),
    );
    try {
      const args = [
        ...command.split(' ').slice(3),
        '--url',
        host.url,
        '--token',
        'a-token-for-docs',
      ];
      const { code, stdout } = await place.run(args);
      expect({ code, stdout }).to.deep.equal({ code: 0, stdout: lines.join('\n') });
      expect(host.requests[0]?.target).to.equal('/candidate?module=invoices');
    } finally {
      await host.stop();
    }
  });

  it('has files of roles, tokens and issuers that a host accepts', async () => {
    const place = createWorkplace();
    for (const name of ['roles.yaml', 'tokens.yaml', 'issuers.yaml']) {
      place.write(
        name,
        findBlock(({ body }) => body.startsWith(`# ${name}\n`)),
      );
    }
    const crm = describeModule('crm', ENDPOINT, [], { manifest: { inline: CRM } });
    place.write('modules.d/crm.json', crm);
    const command = findBlock(({ kind, body }) => kind === 'sh' && body.includes('serve'));
    const args = [...command.trim().split(' ').slice(2), '--issuers', 'issuers.yaml'];
    const { code, stdout, stderr } = await place.run([
      ...[...args, '--env', 'production', '--modules', 'modules.d', '--state', 'state'],
      '--check',
    ]);
    expect(code, stdout + stderr).to.equal(0);
  });
});
