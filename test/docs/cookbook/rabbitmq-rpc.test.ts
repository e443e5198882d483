import { spawn } from 'node:child_process';
import { needRabbit } from '../../plugins/amqp/amqp-server.js';
import { hasConsumer } from '../../plugins/amqp/amqp-service.js';
import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';
import { waitUntil } from '../../support/http/wait-until.js';

const PAGE = 'docs/cookbook/rabbitmq-rpc.md';

/** At the broker of the machine. */
describe(PAGE, () => {
  before(async function () {
    await needRabbit(this);
  });

  useCookbookPage(PAGE, {
    ports: [],
    startServer: async (folder) => {
      const service = spawn(process.execPath, ['orders.mjs'], { cwd: folder, stdio: 'inherit' });
      await waitUntil('the service consumes', () => hasConsumer('orders-rpc'));
      return service;
    },
  });
});
