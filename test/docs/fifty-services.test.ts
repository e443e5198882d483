import { expect } from 'chai';
import { createWorkplace } from '../support/cli/run-in.js';
import { type DocumentedBlock, readDocumentedBlocks } from '../support/docs/documented-commands.js';
import { writeDocumentedFiles } from '../support/docs/documented-files.js';
import { buildManifest, describeModule } from '../support/http/modules.js';

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
    try {
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
        // Where the copies of invoices go.
        rules: ['candidate-origin'],
      });
    } finally {
      place.remove();
    }
  });

  it('shows what modgate grants --role prints', async () => {
    const place = createWorkplace();
    try {
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
    } finally {
      place.remove();
    }
  });
});
