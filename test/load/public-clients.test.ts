import { describePublicClients } from '../support/typescript/public-clients.js';

const FILES = [
  ...['box.json', 'docker.yaml', 'elastic.json', 'openai.yaml', 'ory.json', 'plaid.yaml'],
  ...['twilio-flex.yaml', 'vault.json'],
];

describePublicClients([
  { file: 'openapi-adyen-management.json.gz' },
  ...FILES.map((name) => ({ file: `api-documents/${name}.gz` })),
  {
    file: 'api-documents/digitalocean-sources.tar.gz',
    entry: 'do/specification/DigitalOcean-public.v2.yaml',
  },
]);
