import { connect, type Socket } from 'node:net';
import { expect } from 'chai';
import { RawConnection, type ReceivedResponse } from '../../../core/selftest/raw-http.js';
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
import { type HostProcess, startHostProcess } from '../../support/start-host.js';

/** The number of files that the host may open in addition. */
const SPARE = 16;
/** Leaves only stdin, stdout and stderr below the limit, which applies to descriptor numbers. */
const NONE = 3;

describe('host without free file descriptors', () => {
  let provider: ScriptedProvider;
  let host: HostProcess;
  let sockets: Socket[] = [];

  before(async function () {
    if (!canLimitProcesses()) this.skip();
    provider = await startProvider(answerJson({}));
    const breaker = { failures: 5, open_ms: 200, max_open_ms: 400 };
    const config = { endpoints: [provider.url] };
    host = await startHostProcess({ files: { 'm.json': describeItems('m', config, { breaker }) } });
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

  it('closes connections beyond the limit, and recovers when others close', async () => {
    expect((await callItems(host, 'm')).status).to.equal(200);
    await expectNoConnections(() => provider.sockets.size);
    const atRest = countDescriptors(host.pid);
    limitProcess(host.pid, 'nofile', atRest + SPARE);
    openIdle(3 * SPARE);
    const isOver = () => sockets.some((socket) => socket.destroyed || socket.readableEnded);
    await waitUntil('connections to be closed', isOver);
    // Another connection is closed or gets a Problem. It never hangs.
    const outcome = await callItems(host, 'm', { deadlineMs: 20_000 }).catch((error) => error);
    if (!(outcome instanceof Error)) expectProblem(outcome as ReceivedResponse, 502);

    for (const socket of sockets) socket.destroy();
    await waitUntil('a call to be served again', () =>
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

  it('returns 502 when the provider connection needs a descriptor', async () => {
    await expectNoConnections(() => provider.sockets.size);
    const connection = await RawConnection.open(host.port);
    const send = async () => {
      connection.write(
        `GET /modules/m/http/items HTTP/1.1\r\nhost: 127.0.0.1:${host.port}\r\n` +
          `authorization: Bearer ${ROOT}\r\n\r\n`,
      );
      return connection.read({ deadlineMs: 20_000 });
    };
    expect((await send()).status).to.equal(200);
    await expectNoConnections(() => provider.sockets.size);
    // Open files stay open, but no other can be opened.
    limitProcess(host.pid, 'nofile', NONE);
    const response = await send();
    limitProcess(host.pid, 'nofile', 'unlimited');
    const problem = expectProblem(response, 502);
    expect(reasonOf(problem, 'failure')).to.equal('unavailable');
    connection.destroy();
    await expectRecovery(host, 'm');
  });
});
