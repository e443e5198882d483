import { expect } from 'chai';
import { useBrowser } from '../../support/browser/browser.js';
import { startProvider } from '../../support/provider.js';
import { startHost } from '../../support/start-host.js';
import { use } from '../../support/use.js';

/** Neither is a value of a double. */
const ID = '12345678901234567890';
const RATE = '-0.1234567890123456789';
/** A double would write 1.1. */
const PRICE = '1.10';
const ROWS = `{"records":[{"id":${ID},"rate":${RATE},"more":{"deep":[${ID}]},"price":${PRICE}}],"next_cursor":null}`;
const TOKEN = 'dev-user:ann:console.admin,modgate.modules.read';

const FIELDS = [
  { name: 'id', type: 'integer' },
  { name: 'rate', type: 'number' },
  { name: 'more', type: 'json' },
  { name: 'price', type: 'number' },
] as const;

const MANIFEST = {
  protocol: 'modgate.manifest.v1',
  module_id: 'bank',
  capabilities: ['bank.use'],
  http_routes: [],
  admin: {
    entities: [
      { name: 'accounts', read_capability: 'bank.use', list_path: '/accounts', fields: FIELDS },
    ],
    actions: [
      {
        name: 'close',
        label: 'Close the account',
        capability: 'bank.use',
        invoke_path: '/close',
        input_schema: { fields: FIELDS },
      },
    ],
  },
  console_contributions: [
    {
      target: 'bank.accounts.row.actions',
      label: 'Close this account',
      action: {
        kind: 'admin_action',
        module: 'bank',
        name: 'close',
        input_bindings: FIELDS.map(({ name }) => ({
          input: name,
          value: { kind: 'slot_context', path: `row.${name}` },
        })),
      },
    },
  ],
};

describe('numbers that JavaScript cannot hold, in the console', () => {
  const browser = useBrowser();

  const provider = use(() =>
    startProvider((request, response) => {
      response.setHeader('content-type', 'application/json');
      response.end(request.method === 'GET' ? ROWS : `{"closed":${ID}}`);
    }),
  );
  const host = use(() => {
    const descriptor = {
      module: 'bank',
      provider: { kind: 'http', config: { endpoints: [provider.url] } },
      manifest: { inline: MANIFEST },
      console: { ui: ['builtin'], grants: ['bank.use'] },
    };
    return startHost({ files: { 'bank.json': descriptor } });
  });

  it('are shown, contributed, sent and answered with every digit', async () => {
    const { page, close } = await browser.open(`${host.url}/console/modules/bank?tab=Data`);
    await page.getByLabel('Token').fill(TOKEN);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
    await page.getByRole('cell', { name: ID, exact: true }).waitFor();
    await page.getByRole('cell', { name: RATE, exact: true }).waitFor();
    await page.getByRole('cell', { name: PRICE, exact: true }).waitFor();
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await page.getByRole('button', { name: 'Close this account' }).click();
    expect(await page.getByLabel('id').inputValue()).to.equal(ID);
    await page.getByRole('button', { name: 'Close the account' }).click();
    await page.getByText(`"closed": ${ID}`).waitFor();
    const sent = provider.requests.find(({ method }) => method === 'POST')?.body.toString();
    expect(sent).to.equal(`{"id":${ID},"rate":${RATE},"more":{"deep":[${ID}]},"price":${PRICE}}`);
    await close();
  });
});
