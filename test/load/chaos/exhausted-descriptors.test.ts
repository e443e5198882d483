import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { RawConnection, type RawResponse } from '../../../core/selftest/raw-http.js';
import { expectNoConnections, expectRecovery } from '../../support/chaos/at-rest.js';
import {
  canLimitProcesses,
  countDescriptors,
  limitProcess,
} from '../../support/chaos/process-limits.js';
import { ROOT } from '../../support/http/call.js';
import { expectProblem, reasonOf } from '../../support/http/expect-problem.js';
import { waitUntil } from '../../support/http/wait-until.js';
import { callItems, describeItems } from '../../support/provider/routes.js';
import { answerJson, type ScriptedProvider, startProvider } from '../../support/provider.js';
import { type RunningHost, startHost } from '../../support/start-host.js';

/** Files that the host may open beyond those that it has. */
const SPARE = 16;
/** The limit is on the number of a descriptor: those of stdin, stdout and stderr. */
const NONE = 3;

describe('a host that has no file descriptors left', () => {
  let provider: ScriptedProvider;
  let host: RunningHost;
  let sockets: Socket[] = [];

  before(async function () {
    if (!canLimitProcesses()) this.skip();
    provider = await startProvider(answerJson({}));
    const breaker = { failures: 5, open_ms: 200, max_open_ms: 400 };
    const config = { endpoints: [provider.url] };
    host = await startHost({ files: { 'm.json': describeItems('m', config, { breaker }) } });
  });

  after(async () => {
    for (const socket of sockets) socket.destroy();
    const exit = await host?.stop();
    await provider?.stop();
    if (exit !== undefined) expect(exit).to.deep.equal({ code: 0, signal: null });
  });

  const openIdle = (count: number) => {
    sockets = Array.from({ length: count }, () => {
      const socket = connect(host.port, '127.0.0.1');
      socket.on('error', () => {});
      return socket;
    });
  };

  it('closes what it cannot take, lives, and serves again when connections go', async () => {
    expect((await callItems(host, 'm')).status).to.equal(200);
    await expectNoConnections(() => provider.sockets.size);
    const atRest = countDescriptors(host.pid);
    limitProcess(host.pid, 'nofile', atRest + SPARE);
    openIdle(3 * SPARE);
    const isOver = () => sockets.some((socket) => socket.destroyed || socket.readableEnded);
    await waitUntil('connections are turned away', isOver);
    // One more is turned away, or answered with a Problem; it is never left hanging.
    const outcome = await callItems(host, 'm', { deadlineMs: 20_000 }).catch((error) => error);
    if (!(outcome instanceof Error)) expectProblem(outcome as RawResponse, 502);

    for (const socket of sockets) socket.destroy();
    await waitUntil('it is served again', () =>
      callItems(host, 'm').then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    await expectRecovery(host, 'm');
    limitProcess(host.pid, 'nofile', 'unlimited');
    await expectNoConnections(() => provider.sockets.size);
    await waitUntil('as many files as before', () => countDescriptors(host.pid) <= atRest + 2);
  });

  it('answers 502 where it is the way to the provider that needs one', async () => {
    await expectNoConnections(() => provider.sockets.size);
    const connection = await RawConnection.open(host.port);
    const ask = async () => {
      connection.write(
        `GET /modules/m/http/items HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\n` +
          `authorization: Bearer ${ROOT}\r\n\r\n`,
      );
      return connection.read({ deadlineMs: 20_000 });
    };
    expect((await ask()).status).to.equal(200);
    await expectNoConnections(() => provider.sockets.size);
    // Those that are open stay open, and no other can be opened.
    limitProcess(host.pid, 'nofile', NONE);
    const answer = await ask();
    limitProcess(host.pid, 'nofile', 'unlimited');
    const problem = expectProblem(answer, 502);
    expect(reasonOf(problem, 'failure')).to.equal('unavailable');
    connection.destroy();
    await expectRecovery(host, 'm');
  });
});
