import { expect } from 'chai';
import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import {
  byReadme,
  byRedocly,
  bySeriousme,
  expectValidDocument,
} from '../support/openapi/validate-document.js';
import { readOutsideText } from '../support/outside.js';

const MODULES = 200;
const ROUTES = 20;

const RECORD = {
  type: 'object',
  required: ['name'],
  properties: { name: { type: 'string' }, parent: { $ref: '#' } },
};

const DOCUMENTS = [
  ['petstore', 'openapi-petstore.yaml', [bySeriousme, byReadme]],
  ['adyen', 'openapi-adyen-management.json', [bySeriousme, byReadme]],
  // Box has properties called $id.
  ['box', 'openapi-box.json', [byRedocly, byReadme]],
] as const;

describe('large OpenAPI documents', () => {
  let place: Workplace;

  beforeEach(() => {
    place = createWorkplace();
  });

  it(`pass two public validators with ${MODULES} modules of ${ROUTES} routes`, async () => {
    for (let at = 0; at < MODULES; at += 1) {
      place.write(`modules.d/m${at}.json`, {
        module: `m${at}`,
        provider: { kind: 'http', config: { endpoints: ['http://127.0.0.1:9'] } },
        manifest: { inline: createManifest(`m${at}`) },
      });
    }
    const { stdout } = await place.run(['openapi', '--modules', 'modules.d']);
    const { paths } = JSON.parse(stdout) as { paths: object };
    expect(Object.values(paths).flatMap(Object.keys)).to.have.length(MODULES * ROUTES);
    await expectValidDocument(stdout);
  });

  for (const [module, file, validators] of DOCUMENTS) {
    const text = readOutsideText(`${file}.gz`);
    if (text === null) {
      it(`${file} needs MODGATE_OUTSIDE, or ../shared/outside`);
      continue;
    }
    it(`pass two public validators when ${file} is imported`, async () => {
      place.write(file, text);
      const source = ['openapi', file, '--module', module, '--endpoint', 'https://api.example'];
      const imported = await place.run(['import', ...source]);
      expect(imported.code, imported.stderr).to.equal(0);
      const { stdout } = await place.run(['openapi', '--modules', 'modules.d']);
      await expectValidDocument(stdout, validators);
    });
  }
});

function createManifest(module: string) {
  const methods = ['GET', 'PUT', 'PATCH', 'DELETE'];
  const http_routes = Array.from({ length: ROUTES }, (_, at) => {
    const method = methods[at % methods.length];
    const input = method === 'PUT' || method === 'PATCH' ? { input_schema: RECORD } : {};
    return {
      method,
      path: `/records${Math.floor(at / methods.length)}/{id}`,
      capability: 'records.use',
      operation: { ...input, output_schema: RECORD },
    };
  });
  return {
    protocol: 'modgate.manifest.v1',
    module_id: module,
    capabilities: ['records.use'],
    http_routes,
  };
}
