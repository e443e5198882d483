import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';

const PAGE = 'docs/cookbook/git.md';

describe(PAGE, () => {
  useCookbookPage(PAGE, { ports: ['4205'], programs: ['git'], args: ['--token-basic'] });
});
