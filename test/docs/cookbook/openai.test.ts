import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';

const PAGE = 'docs/cookbook/openai.md';

describe(PAGE, () => {
  useCookbookPage(PAGE, { ports: ['4206'], env: { MODEL_KEY: 'sk-of-the-host' } });
});
