import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { startGraphServer } from '../../support/cookbook/graph-server.js';
import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';

const PAGE = 'docs/cookbook/graph.md';
const ORIGIN = 'https://graph.microsoft.com';

/** Uses a part of the document, whose operations are those of the page. */
describe(PAGE, () => {
  useCookbookPage(PAGE, {
    ports: [ORIGIN],
    prepare: (folder) => copyFileSync('test/corpus/graph/graph.json', join(folder, 'graph.json')),
    startServer: async (_folder, ports) => startGraphServer(ports.get(ORIGIN) ?? 0),
  });
});
