import { startRabbitServer } from '../../support/cookbook/rabbitmq-server.js';
import { useCookbookPage } from '../../support/cookbook/use-cookbook-page.js';
import { findFreePort } from '../../support/free-port.js';

const PAGE = 'docs/cookbook/rabbitmq.md';

/** A broker takes seconds to start. */
describe(PAGE, () => {
  useCookbookPage(PAGE, {
    ports: ['15672'],
    programs: ['rabbitmq-server', 'rabbitmqadmin'],
    args: ['--token-basic'],
    env: { BROKER_PASSWORD: 'guest' },
    startServer: async (folder, ports) =>
      startRabbitServer(folder, {
        management: ports.get('15672') ?? 0,
        amqp: await findFreePort(),
        distribution: await findFreePort(),
      }),
  });
});
