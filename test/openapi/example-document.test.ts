import { createWorkplace, type Workplace } from '../support/cli/run-in.js';
import { copyExamples } from '../support/copy-examples.js';
import { expectValidDocument } from '../support/openapi/validate-document.js';

describe('the OpenAPI document of the example', () => {
  let place: Workplace;

  before(() => {
    place = createWorkplace();
    copyExamples(place.folder);
  });

  it('passes two public validators', async () => {
    const { stdout } = await place.run(['openapi', '--modules', 'modules.d']);
    await expectValidDocument(stdout);
  });
});
