import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';

const PAGE = 'docs/cookbook/mqtt.md';

describe(PAGE, () => {
  useCookbookPage(PAGE, { ports: ['1883', '9001'], programs: ['mosquitto'] });
});
