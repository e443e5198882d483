import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';

const PAGE = 'docs/cookbook/grpc.md';

describe(PAGE, () => {
  useCookbookPage(PAGE, { ports: ['50051'] });
});
