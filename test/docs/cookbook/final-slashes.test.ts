import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';

const PAGE = 'docs/cookbook/final-slashes.md';

describe(PAGE, () => {
  useCookbookPage(PAGE, { ports: ['4207'] });
});
