import { join } from 'node:path';
import { writeOciImage } from '../../support/cookbook/oci-image.js';
import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';

const PAGE = 'docs/cookbook/registry.md';

describe(PAGE, () => {
  useCookbookPage(PAGE, {
    ports: ['5000'],
    programs: ['docker-registry', 'skopeo'],
    args: ['--token-basic'],
    prepare: (folder) => writeOciImage(join(folder, 'image')),
  });
});
