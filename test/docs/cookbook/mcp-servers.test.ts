import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';

const PAGE = 'docs/cookbook/mcp-servers.md';

describe(PAGE, () => {
  useCookbookPage(PAGE, { ports: [], args: ['--surfaces', 'mcp'] });
});
