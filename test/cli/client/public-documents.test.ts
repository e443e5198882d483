import { describePublicClients } from '../../support/typescript/public-clients.js';

// The others are in test/load.
describePublicClients([
  { file: 'openapi-petstore.yaml.gz' },
  { file: 'api-documents/weaviate.json.gz' },
]);
